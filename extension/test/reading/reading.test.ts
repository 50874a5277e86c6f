import './page.ts';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ToolError } from '@tabrelay/plugin-sdk';
import { readGrid, tables } from '../../src/browser/reading/grid.ts';
import { listForms } from '../../src/browser/reading/list-forms.ts';
import { listLinks } from '../../src/browser/reading/list-links.ts';
import { listTables } from '../../src/browser/reading/list-tables.ts';
import { outline } from '../../src/browser/reading/outline.ts';
import { cut } from '../../src/browser/reading/page.ts';
import { pageInfo } from '../../src/browser/reading/page-info.ts';
import { readTable } from '../../src/browser/reading/read-table.ts';
import type { Reading } from '../../src/browser/reading/request.ts';
import { openPage } from './page.ts';

const few: Reading = {
  offset: 0,
  limit: 10,
  valueChars: 500,
  maxChars: 8000,
  links: false,
  contains: '',
  depth: 4,
  minSize: 48,
};
const ctx = {};

async function failureOf(action: () => unknown): Promise<ToolError> {
  try {
    await action();
  } catch (error) {
    assert.ok(error instanceof ToolError, String(error));
    return error;
  }
  return assert.fail('the action succeeded');
}

test('a title has nothing in it that a person would not see', async () => {
  const shown = async (title: string) => {
    openPage(`<title>${title}</title><p>Text`);
    return (await pageInfo(few)).title;
  };
  assert.equal(await shown('Pay \u202e\u2066\u200b\u0007Ada\u{e0041}'), 'Pay Ada');
  assert.equal(
    await shown('\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u{1f468}\u200d\u{1f469}'),
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u{1f468}\u200d\u{1f469}',
  );
  assert.equal(await shown('a\u200d\u200db'), 'ab');
});

const grids: Record<string, [markup: string, columns: string[], rows: string[][]]> = {
  'no header': [
    '<tr><td>a<td>b<tr><td>c<td>d',
    [],
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  'a row of th is the header': ['<tr><th>A<th>B<tr><td>1<td>2', ['A', 'B'], [['1', '2']]],
  'th at the side is data': [
    '<tr><th>A<td>1<tr><th>B<td>2',
    [],
    [
      ['A', '1'],
      ['B', '2'],
    ],
  ],
  'only th': ['<tr><th>A<th>B<tr><th>1<th>2', ['A', 'B'], [['1', '2']]],
  'header over two rows': [
    '<thead><tr><th rowspan=2>A<th colspan=2>B<tr><th>C<th>D</thead><tr><td>1<td>2<td>3',
    ['A', 'B / C', 'B / D'],
    [['1', '2', '3']],
  ],
  'spans past the end': [
    '<tr><td rowspan=99>a<td>b<tr><td colspan=2>c',
    [],
    [
      ['a', 'b'],
      ['a', 'c'],
    ],
  ],
  'a span that means all columns': [
    '<thead><tr><th>A<th>B</thead><tr><td colspan=100>none<tr><td>1<td>2',
    ['A', 'B'],
    [
      ['none', 'none'],
      ['1', '2'],
    ],
  ],
  'rows of unequal length': [
    '<tr><td>a<tr><td>b<td>c',
    [],
    [
      ['a', ''],
      ['b', 'c'],
    ],
  ],
  'a span that is no number': ['<tr><td colspan=x rowspan=-1>a<td>b', [], [['a', 'b']]],
  'a hidden row': ['<tr><td>a<tr hidden><td>b', [], [['a']]],
};

for (const [name, [markup, columns, rows]] of Object.entries(grids)) {
  test(`a table: ${name}`, () => {
    openPage(`<table>${markup}</table>`);
    const [table] = tables();
    assert.ok(table);
    assert.deepEqual(readGrid(table), { caption: '', columns, rows });
  });
}

test('a table in a table is a table of its own', () => {
  openPage('<table><tr><td>a<table><tr><td>x</td></tr></table></td></tr></table>');
  assert.deepEqual(
    tables().map((one) => readGrid(one).rows.length),
    [1, 1],
  );
});

test('tables are found by index and by caption, and missing ones are named', async () => {
  openPage('shop.html');
  const listed = await listTables(few, ctx);
  assert.deepEqual(
    listed.tables.map(({ index, caption, rows }) => [index, caption, rows]),
    [
      [0, 'Prices of 2026', 3],
      [1, 'Stock', 1],
    ],
  );
  const stock = await readTable({ ...few, caption: 'STOCK' }, ctx);
  assert.deepEqual([stock.columns, stock.rows], [['Pot', 'Left'], [['Small', '3']]]);
  for (const wanted of [{ index: 2 }, { caption: 'none' }, { index: 0, caption: 'Stock' }]) {
    assert.equal((await failureOf(() => readTable({ ...few, ...wanted }, ctx))).code, 'NOT_FOUND');
  }
});

test('links: each once, resolved, no scripts', async () => {
  openPage('shop.html');
  const found = await listLinks(few, ctx);
  assert.deepEqual(found.links, [
    { text: 'Home', url: 'http://shop.test/' },
    { text: 'Cart', url: 'http://shop.test/cart?x=1' },
    { text: 'About us', url: 'https://other.example/about' },
  ]);
  const same = await listLinks({ ...few, contains: 'CART', limit: 1 }, ctx);
  assert.deepEqual([same.total, same.nextOffset], [1, undefined]);
});

test('forms: no secret of any kind is answered', async () => {
  openPage('shop.html');
  const found = await listForms(few, ctx);
  assert.equal(found.forms[0]?.fields.length, 6);
  assert.doesNotMatch(JSON.stringify(found), /secret|4111/);
  openPage(
    '<form><input name="apiToken" value="s1"><input type="text" name="Passwort" value="s2">' +
      '<input autocomplete="one-time-code" value="s3"></form>',
  );
  assert.doesNotMatch(JSON.stringify(await listForms(few, ctx)), /s[123]/);
});

test('metadata: a graph is taken apart, broken JSON-LD and tokens are left out', async () => {
  openPage('shop.html');
  const info = await pageInfo(few);
  assert.deepEqual(info.meta, { author: 'Ada' });
  assert.equal(info.jsonLd?.length, 1);
});

test('headings: level and depth', async () => {
  openPage(
    '<h1>A</h1><h3 id="b">B</h3><div role="heading" aria-level="2">C</div><h5>D</h5><h2 hidden>E</h2>',
  );
  const { headings } = await outline(few, ctx);
  assert.deepEqual(headings, [
    { level: 1, text: 'A' },
    { level: 3, text: 'B', anchor: 'b' },
    { level: 2, text: 'C' },
  ]);
});

test('pieces never cut a character', () => {
  assert.equal(cut('a🦊bc', 3), 'a…');
});

test('Readability is the published one', () => {
  const copy = readFileSync(new URL('../../src/browser/readability/Readability.cjs', import.meta.url));
  const published = '34dcab3d0832d0019f02990eed6b6124e029e8c32b9f0c6f2550544ff8dff174'; // Readability.js of 0.6.0
  assert.equal(createHash('sha256').update(copy).digest('hex'), published);
});
