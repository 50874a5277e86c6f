import './reading/page.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedRow } from '../src/browser/columns.ts';

const night = '"Faster than the fox, whom it meets at night, and slower than the owl, who sees them both"';
const row = (check: string, title: string, pages: string, state = '') =>
  `row [e31]${state}: ` +
  [`checkbox ${check}`, 'button "Copy" [e29] "xjxes"', title, night, pages, '"2026" "16:26"'].join(' | ');

const said: [what: string, before: string, now: string, told: string][] = [
  [
    'cells that say the same are left out, but for the one that says which row it is',
    row('"one" [e28]', '"The hare"', '"40"'),
    row('"one" [e28]', '"The hare"', '"41"'),
    'row [e31]: … | … | "The hare" | … | "41" | …',
  ],
  [
    'a new reference is told',
    row('"one" [e28]', '"The hare"', '"40"'),
    row('"one" [e30]', '"The hare"', '"40"', ' selected'),
    'row [e31] selected: checkbox "one" [e30] | … | "The hare" | … | … | …',
  ],
  [
    'what a cell says as we do is no cell',
    row('"one" [e28]', '"a | …"', '"40"'),
    row('"one" [e28]', '"b | …"', '"40"'),
    'row [e31]: … | … | "b | …" | … | … | …',
  ],
  [
    'a row with other cells is told whole',
    row('"one" [e28]', '"The hare"', '"40"'),
    `${row('"one" [e28]', '"The hare"', '"40"')} | "new"`,
    `${row('"one" [e28]', '"The hare"', '"40"')} | "new"`,
  ],
  ['a short row is told whole', 'row: "a" | "b" | "c"', 'row: "a" | "b" | "d"', 'row: "a" | "b" | "d"'],
  [
    'what is no row is told whole',
    `textbox ${night}`,
    `textbox ${night} = ${night}`,
    `textbox ${night} = ${night}`,
  ],
];

for (const [what, before, now, told] of said)
  test(`of a row that changed, ${what}`, () => assert.equal(changedRow(before, now), told));
