// Pages that are drawn anew faster than an agent answers: what is meant is said in words, and looked for when the call
// comes. Whatever is not one thing is refused.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import base, { expect, visit } from '../stage/test.ts';

const orders = `<h1>Orders</h1><table><tbody id="rows"></tbody></table><p role="status" id="said"></p><script>
  let beat = 0;
  const draw = () => {
    beat++;
    rows.innerHTML = [100, 101, 107, 1070].map((id) =>
      '<tr><td>' + id + '<td>' + (id % 2 ? 'Ada' : 'Blaise') + '<td>' + beat + ' ticks<td>' +
      '<input aria-label="Amount"><td><button onclick="said.textContent = \\'approved ' + id + '\\'">Approve</button>'
    ).join('');
  };
  draw();
</script>`;

const mail = `<ul><li><a href="#a">Mail A</a></li><li><a href="#b">Mail B</a></li></ul>
  <div><h2>Mail B</h2><button onclick="said.textContent = 'deleted'">Delete</button></div>
  <div><input type="password" aria-label="Key"></div><p role="status" id="said"></p>`;

const test = base.extend<{ at: (page: string) => Promise<Acting & { draw: () => Promise<unknown> }> }>({
  at: async ({ keptStage: stage, closing }, use) => {
    const url = await openSite(closing, { orders, mail });
    await use(async (page) => {
      await visit(stage, `${url}/${page}`);
      return Object.assign(new Acting(stage.agent), { draw: () => stage.page.evaluate('draw()') });
    });
  },
});

test('an agent whose references never last is told how to say it in words, and does', async ({ at }) => {
  const agent = await at('orders');
  const lost = async () => {
    const ref = await agent.ref('button "Approve"');
    await agent.draw();
    return agent.failure('click', { ref });
  };
  expect(await lost()).toMatchObject({
    code: 'REF_GONE',
    hint: expect.stringMatching(/^Take a new snapshot/),
  });
  const { hint } = await lost();
  expect(hint).toContain('button "Approve" in "…"');
  await agent.draw();
  const effect = await agent.do('click', { ref: 'button "Approve" in "107"' });
  expect(effect).toMatchObject({ changes: expect.stringContaining('"approved 107"') });
  await agent.draw();
  const filled = await agent.do('fill', { fields: [{ ref: 'textbox "Amount" in "1070"', value: '7' }] });
  expect(filled.filled).toMatchObject([{ value: '7', verified: true }]);
  await agent.draw();
  expect(await agent.look({ ref: 'button "Approve" in "100"' })).toMatch(/^button "Approve" \[e\d+\]$/m);
  expect((await agent.agent.call('browser__wait', { ref: 'button "Approve" in "101"' })).failed).toBe(false);
  const steps = [
    { tool: 'click', ref: 'button "Approve" in "100"' },
    { tool: 'click', ref: 'button "Approve" in "101"' },
  ];
  const { value } = await agent.agent.call('browser__act', { steps });
  expect(JSON.stringify(value)).toContain('approved 101');
});

for (const [page, ref, code, why] of [
  ['orders', 'button "Approve"', 'VALIDATION_ERROR', '4 things are'],
  ['orders', 'button "Approve" in "Ada"', 'VALIDATION_ERROR', '2 things are'],
  ['orders', 'button "Approve" in "10"', 'REF_GONE', 'Nothing in the page is'],
  ['orders', 'button "Approve" in "Orders"', 'REF_GONE', 'Nothing in the page is'],
  ['orders', 'button "Approv"', 'REF_GONE', 'Nothing in the page is'],
  ['orders', 'button "Approve" in ""', 'REF_GONE', 'Nothing in the page is'],
  ['orders', 'button Approve', 'VALIDATION_ERROR', 'is not a reference'],
  ['mail', 'button "Delete" in "Mail C"', 'REF_GONE', 'Nothing in the page is'],
  ['mail', 'button "Delete" in "Mail A"', 'REF_GONE', 'Nothing in the page is'],
] as const)
  test(`${ref} of ${page} is refused, and nothing is done`, async ({ at }) => {
    const agent = await at(page);
    const refused = await agent.failure('click', { ref });
    expect(refused).toMatchObject({ code, outcome: 'not_executed' });
    expect(refused.text).toContain(why);
    expect(await agent.look({ full: true })).not.toMatch(/approved|deleted/);
  });

test('a thing is named by the text of the part that it stands in', async ({ at }) => {
  const agent = await at('mail');
  const effect = await agent.do('click', { ref: 'button "Delete" in "Mail B"' });
  expect(effect.changes).toContain('deleted');
});
