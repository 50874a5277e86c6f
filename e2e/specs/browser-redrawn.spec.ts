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

const things = `<main><button onclick="later()">New record</button><section id="panel"></section>
  <label>Amount * <input></label><textarea placeholder="Search term or filter like created"></textarea>
  <a href="#x">Approve this order</a><p tabindex="0" onclick="said.textContent = 'greeted'">Greet</p><p>Just words</p>
  <div role="list" aria-label="Articles" style="height: 60px; overflow: auto">
    ${'<p role="listitem">One</p>'.repeat(9)}</div>
  <button>Twice</button><button>Twice</button><p role="status" id="said"></p></main><script>
  const later = () => setTimeout(() => { panel.innerHTML = '<label>Title <input></label>' }, 900);
</script>`;

const framed = (other: string) => `<h1>Around</h1><button>Save</button><iframe src="/inner"></iframe>
  <iframe src="${other}/inner"></iframe>`;
const inner = `<label>Text of <b id="where"></b> <input></label><button>Save</button><script>
  where.textContent = location.hostname;
  document.querySelector('button').onclick = () => { where.textContent = 'saved' };
</script>`;

const test = base.extend<{ at: (page: string) => Promise<Acting & { draw: () => Promise<unknown> }> }>({
  at: async ({ keptStage: stage, closing }, use) => {
    const pages = { orders, mail, things, inner };
    const url = await openSite(closing, pages);
    const other = (await openSite(closing, pages)).replace('127.0.0.1', 'localhost');
    Object.assign(pages, { framed: framed(other) });
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
  ['things', 'button "Twice"', 'VALIDATION_ERROR', /2 things are button "Twice" \(e\d+, e\d+\): say beside/],
  [
    'things',
    'button "Approve"',
    'REF_GONE',
    'Nothing in the page is button "Approve"; there is link "Approve this order"',
  ],
  ['things', 'link "Approve"', 'REF_GONE', 'there is link "Approve this order"'],
  ['things', '"Just"', 'REF_GONE', 'Nothing in the page is "Just"'],
  ['mail', 'button "Delete" in "Mail C"', 'REF_GONE', 'Nothing in the page is'],
  ['mail', 'button "Delete" in "Mail A"', 'REF_GONE', 'Nothing in the page is'],
] as const)
  test(`${ref} of ${page} is refused, and nothing is done`, async ({ at }) => {
    const agent = await at(page);
    const refused = await agent.failure('click', { ref });
    expect(refused).toMatchObject({ code, outcome: 'not_executed' });
    if (typeof why === 'string') expect(refused.text).toContain(why);
    else expect(refused.text).toMatch(why);
    expect(await agent.look({ full: true })).not.toMatch(/approved|deleted/);
  });

test('a thing is named by the text of the part that it stands in', async ({ at }) => {
  const agent = await at('mail');
  const effect = await agent.do('click', { ref: 'button "Delete" in "Mail B"' });
  expect(effect.changes).toContain('deleted');
});

test('what is nearly called so, has another role, or scrolls, is found by words', async ({ at }) => {
  const agent = await at('things');
  const fields = [
    { ref: 'textbox "amount"', value: '7' },
    { ref: 'textbox "Search term…"', value: 'owl' },
  ];
  expect((await agent.do('fill', { fields })).filled).toMatchObject([{ value: '7' }, { value: 'owl' }]);
  expect(await agent.do('click', { ref: '"Greet"' })).toMatchObject({
    changes: expect.stringContaining('greeted'),
  });
  await agent.do('pointer', { action: 'scroll', ref: 'list "Articles"', at: { y: 40 } });
  expect(await agent.do('pointer', { action: 'select', ref: '"Just words"' })).toMatchObject({
    outcome: 'executed',
  });
});

test('what the call before brings only a moment later is waited for', async ({ at }) => {
  const agent = await at('things');
  await agent.do('click', { ref: 'button "New record"' });
  const fields = [{ ref: 'textbox "Title"', value: 'The heron' }];
  expect((await agent.do('fill', { fields })).filled).toMatchObject([{ value: 'The heron', verified: true }]);
});

test('words name what stands in a frame, and nothing that stands in two', async ({ at }) => {
  const agent = await at('framed');
  await expect.poll(() => agent.look({ full: true })).toContain('Text of localhost');
  for (const where of ['127.0.0.1', 'localhost']) {
    const fields = [{ ref: `textbox "Text of ${where}"`, value: 'owls' }];
    expect((await agent.do('fill', { fields })).filled).toMatchObject([{ value: 'owls', verified: true }]);
  }
  const wrong = await agent.failure('press', { keys: 'Contrl+Q', ref: 'textbox "Text of localhost"' });
  expect(wrong.text).toContain('Contrl');
  const refused = await agent.failure('click', { ref: 'button "Save"' });
  expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', outcome: 'not_executed' });
  expect(refused.text).toContain('The words name something in several frames of the page');
  expect(await agent.look({ full: true })).not.toContain('saved');
});
