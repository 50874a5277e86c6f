// Long tables are told in columns: nothing of them is lost, and what is a reference alone can be used.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { inFull } from '../stage/columns.ts';
import { expect, test, visit } from '../stage/test.ts';

const people = [
  'Ada',
  'Bo | Cy',
  'Di" [e1] button "Edit',
  '',
  'Eve \\',
  '[e2]',
  'row: Gus | Hal',
  'Ian "',
  'button',
];
const names = [...people, 'Jo', 'Kim', 'Lea', 'Max', 'Ned'];

const cellsOf = [
  (name: string, n: number) =>
    `<td><label><input type="checkbox" ${n % 4 === 1 ? 'checked' : ''}>Choose</label> <a href="#a">Open</a></td>` +
    `<td>${name}</td>`,
  (name: string, n: number) => `<td><a href="#${n}">${name}</a></td><td>${n % 3 === 0 ? '' : 'paid'}</td>`,
  (_: string, n: number) => `<td>before <button>Copy</button> after ${n}</td>`,
  (_: string, n: number) =>
    n % 5 === 4
      ? '<td>closed</td>'
      : `<td><select aria-label="Size"><option>S<option ${n > 6 ? 'selected' : ''}>M</select></td>`,
  (_: string, n: number) =>
    `<td><button onclick="pressed.push(${n})">${n === 7 ? 'Archive' : 'Edit'}</button><button>Delete</button></td>`,
];

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const rows = names.flatMap((name, n) => [
  `<tr ${n % 6 === 2 ? 'onclick="pressed.push(-1)" style="cursor: pointer"' : ''}>` +
    `${cellsOf.map((cell) => cell(escaped(name), n)).join('')}</tr>`,
  ...(n === 10 ? ['<tr><th colspan="7">The others</th></tr>'] : []),
]);
const header = '<tr><th aria-sort="none"><button>Edit</button></th><th>Name</th><th>Link</th></tr>';
const table = (some: readonly string[]) => `<table>${header}${some.join('')}</table>`;
const document = (body: string) => `<!doctype html><title>People</title><script>pressed = []</script>${body}`;

const pages = {
  long: document(table(rows)),
  short: document(table(rows.slice(0, 8)) + table(rows.slice(8))),
};

/** The rows of a look, with references in their order. */
function rowsOf(look: string): string[] {
  let count = 0;
  const numbered = look.replaceAll(/(?<!\\)\[e\d+\]/g, () => `[${++count}]`);
  return numbered.split('\n').filter((line) => /^ ?row/.test(line));
}

test('a long table in columns says what its rows say one by one', async ({ sharedStage: stage, closing }) => {
  const site = await openSite(closing, pages);
  const agent = new Acting(stage.agent);
  const look = async (name: string) => {
    await visit(stage, `${site}/${name}`);
    return agent.look({ full: true, maxTokens: 9000 });
  };
  const short = rowsOf(await look('short'));
  const long = await look('long');
  const isHeader = (row: string) => row.includes('columnheader') || row.includes('"Name" | "Link"');
  const bare = (row: string) => row.replaceAll(/\[\d+\]/g, '[]');
  const told = rowsOf(inFull(long)).map(bare);
  expect(told.filter((row) => !isHeader(row))).toEqual(short.map(bare).filter((row) => !isHeader(row)));
  expect(told).toHaveLength(rows.length + 1);
  expect(long.length).toBeLessThan(inFull(long).length * 0.85);

  const [, edit = ''] = /"before" \[e\d+\] "after 5" .* \| \[(e\d+)\] \[e\d+\]$/m.exec(long) ?? [];
  expect((await agent.do('click', { ref: edit })).outcome).toBe('executed');
  expect(await stage.page.evaluate('pressed')).toEqual([5]);
  expect((await agent.do('click', { ref: 'button "Edit" in "after 9"' })).outcome).toBe('executed');
  expect(await stage.page.evaluate('pressed')).toEqual([5, 9]);
});

test('what is told of a long table later is told in full where nothing stands above it', async ({
  sharedStage: stage,
  closing,
}) => {
  const plain = (n: number) => `<tr id="r${n}"><td>Row ${n}</td><td><button>Edit</button></td></tr>`;
  const many = Array.from({ length: 39 }, (_, n) => plain(n)).join('');
  const few = Array.from({ length: 9 }, (_, n) => plain(n)).join('');
  const site = await openSite(closing, {
    many: document(`<table>${many}</table>`),
    few: document(`<table>${few}</table>`),
  });
  const agent = new Acting(stage.agent);
  await visit(stage, `${site}/few`);
  expect(await agent.look()).toContain('row: "Row 8" | button "Edit" [e9]');
  await visit(stage, `${site}/many`);
  const whole = await agent.look({ maxTokens: 150 });
  expect(whole).toMatch(/ row: "Row 0" \| button "Edit" \[e\d+\]\n row: "Row 1" \| \[e\d+\]\n/);
  const [, from = ''] = /: from (\d+)$/.exec(whole) ?? [];
  const next = await agent.look({ from: Number(from) });
  expect(next).toMatch(/\n row: "Row \d+" \| button "Edit" \[e\d+\]\n row: "Row \d+" \| \[e\d+\]\n/);
  await stage.page
    .locator('#r20 td')
    .first()
    .evaluate((cell) => {
      cell.textContent = 'Another';
    });
  expect(await agent.look()).toMatch(/^changed:\n~ row: "Another" \| button "Edit" \[e\d+\]$/);
  const found = await stage.agent.call('browser__find', { text: 'Row 7' });
  expect(found.text).toMatch(/^row: "Row 7" \| button "Edit" \[e\d+\]$/);

  const append = (count: number) =>
    stage.page.locator('table').evaluate((table, count) => {
      const row = (n: number) => `<tr><td>New ${n}</td><td><button>Edit</button></td></tr>`;
      table.insertAdjacentHTML('beforeend', Array.from({ length: count }, (_, n) => row(n)).join(''));
    }, count);
  await append(9);
  expect(await agent.look()).toMatch(/\n\+ row: "New 1" \| button "Edit" \[e\d+\]\n/);
  await append(10);
  const more = await agent.look();
  expect(more).toMatch(/^changed:\n\+ row: "New 0" \| button "Edit" \[e\d+\]\n\+ row: "New 1" \| \[e\d+\]\n/);
  const [, edit = ''] = /"New 9" \| \[(e\d+)\]/.exec(more) ?? [];
  expect((await agent.do('click', { ref: edit })).on).toContain('button "Edit"');
});
