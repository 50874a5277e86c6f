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

const cards = `<h1>Cards</h1><p>${'Everything that there is in this box. '.repeat(9)}</p>
  <div id="cards"></div><p role="status" id="said"></p><script>
  const draw = (names = ['A', 'C', 'D']) => {
    cards.innerHTML = names.map((name) =>
      '<p>Card ' + name + '</p>' +
      '<button onclick="said.textContent = \\'opened ' + name + '\\'">Open</button>').join('');
  };
  draw(['A', 'B', 'C']);
</script>`;

const steps = `<section id="step"></section><footer>All rights</footer><script>
  const draw = () => {
    step.innerHTML = '<h2>Step 2</h2><label><input type="checkbox">Terms</label><button>Next</button><p>Last one</p>';
  };
  step.innerHTML = '<h2>Step 1</h2><label>Name <input></label><button onclick="draw()">Next</button><p>Of four</p>';
</script>`;

const stock = `<table><tr><td>Apple<td>3<td>red<td><button>Sell</button><td>Ghent</table><script>
  document.querySelector('button').onclick = () => { document.querySelectorAll('td')[1].textContent = '2' };
</script>`;

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
    const pages = { orders, mail, things, inner, cards, steps, stock };
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
  const { code, hint } = await lost();
  expect([code, hint]).toEqual(['REF_GONE', expect.stringMatching(/: button "Approve" in "100"$/)]);
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

const refsIn = (page: string): string[] => Array.from(page.matchAll(/\[(e\d+)\]/g), ([, ref = '']) => ref);

test('what was drawn anew is told by its references, and what is different in all of it once', async ({
  at,
}) => {
  const agent = await at('orders');
  const before = refsIn(await agent.look());
  await agent.draw();
  const news = await agent.look();
  const [, first = '', last = ''] = /: (e\d+)-(e\d+) → e\d+-e\d+$/.exec(news) ?? [];
  expect([first, last]).toEqual([before.at(0), before.at(-1)]);
  expect(news).toMatch(/^changed:\n~ drawn anew, "1 ticks" → "2 ticks": /);
  const now = refsIn(await agent.look({ full: true }));
  expect(news).toContain(`→ ${now.at(0)}-${now.at(-1)}`);
  const approved = await agent.do('click', { ref: now[5] ?? '' });
  expect(approved.changes).toContain('"approved 107"');
});

test('of several alike each is told what it is now, and one that is gone as gone', async ({ at }) => {
  const agent = await at('cards');
  const [a, b, c] = refsIn(await agent.look());
  await agent.draw();
  const news = (await agent.look()).split('\n');
  const [first, second, third] = refsIn(await agent.look({ full: true }));
  expect(news).toContain(`~ drawn anew: ${a} → ${first}, ${c} → ${second}`);
  expect(news).toContain(`- button "Open" [${b}]`);
  expect(news).toContain(`+ button "Open" [${third}]`);
  const opened = await agent.do('click', { ref: second ?? '' });
  expect(opened.changes).toContain('opened C');
});

test('what is called so among other things is another thing', async ({ at }) => {
  const agent = await at('steps');
  const { changes = '' } = await agent.click('button "Next"');
  expect(changes).toMatch(/^\+ button "Next" \[e\d+\]$/m);
  expect(changes).not.toContain('drawn anew');
});

test('what an agent was not told before it acted is told with what came of that', async ({ at }) => {
  const agent = await at('orders');
  const before = refsIn(await agent.look());
  await agent.draw();
  const { changes } = await agent.do('click', { ref: 'button "Approve" in "107"' });
  expect(changes).toBe('+ "approved 107"');
  await agent.draw();
  const news = await agent.look();
  expect(news).toContain(`~ drawn anew, "1 ticks" → "3 ticks": ${before.at(0)}-${before.at(-1)} → `);
});

test('of a row that changed its first words and the cells that are different are told', async ({ at }) => {
  const agent = await at('stock');
  const sold = await agent.click('button "Sell"');
  expect(sold.changes).toBe('~ row: "Apple" | "2" | … | … | …');
  expect(await agent.look({ full: true })).toMatch(
    /^row: "Apple" \| "2" \| "red" \| button "Sell" \[e\d+\]/m,
  );
});
