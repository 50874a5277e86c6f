// Rows by their cells. Long tables are told in columns: what a row has to act on that is called as in the row above,
// such as the button "Edit" of each, is only its reference there. In a row that changed, … stands for cells that did
// not.
import { closest } from './dom.ts';
import type { Line } from './lines.ts';

const fewest = 10; // rows of a table that is told so

const tables = 'table, [role=table], [role=grid], [role=treegrid]';
const head = /^row(?: "(?:[^"\\]|\\.)*")?(?: \[(?:f\d+)?e\d+\])?(?: [a-z]+)*: /;
const parts = /"(?:[^"\\]|\\.)*"| \| |[^" ]+| |"/g;
const things = /(?<=^| )([a-z][a-z0-9]*(?: "(?:[^"\\]|\\.)*")?) (?=\[(?:f\d+)?e\d+\])/g;

// Behind words or another thing a reference stands for itself, behind a state such as "checked" it would not.
const apart = /^$|["\]] $/;

/** What the things in the cells of a row are called, by their cells. */
type Names = readonly (readonly string[])[];

/** Tells lines in their order, the rows of long tables in columns. */
export class Columns {
  readonly #lines: readonly Line[];
  readonly #long: ReadonlySet<number>; // places of rows in long tables
  #above: { at: number; names: Names } | undefined;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
    this.#long = rowsOfLongTables(lines);
  }

  tell(at: number, line: Line): Line {
    const [first = ''] = head.exec(line.text) ?? [];
    if (!this.#long.has(at)) return line;
    const cells = cellsOf(line.text.slice(first.length));
    const names = cells.map((cell) => Array.from(cell.matchAll(things), ([, name = '']) => name));
    const above = this.#isBelow(at) ? (this.#above?.names ?? []) : [];
    this.#above = { at, names };
    const said = cells.map((cell, column) => {
      let nth = 0;
      return cell.replaceAll(things, (all, name: string, from: number) => {
        const isAlike = above[column]?.[nth++] === name;
        return isAlike && apart.test(cell.slice(0, from)) ? '' : all;
      });
    });
    return { ...line, text: first + said.join(' | ') };
  }

  // Whether the row that was told last is the one above, in the same table.
  #isBelow(at: number): boolean {
    const [above, one] = [this.#lines[at - 1], this.#lines[at]];
    if (this.#above?.at !== at - 1 || above === undefined || one === undefined) return false;
    return tableOf(above) === tableOf(one);
  }
}

const longRow = 120; // characters

/** A row that changed, with … for each cell that says what it said; the first with plain words is always told. */
export function changedRow(before: string, now: string): string {
  const [headBefore] = head.exec(before) ?? [];
  const [headNow] = head.exec(now) ?? [];
  if (now.length < longRow || headBefore === undefined || headNow === undefined) return now;
  const old = cellsOf(before.slice(headBefore.length));
  const cells = cellsOf(now.slice(headNow.length));
  if (old.length !== cells.length) return now;
  const named = cells.findIndex((cell) => cell.startsWith('"'));
  return headNow + cells.map((cell, at) => (cell === old[at] && at !== named ? '…' : cell)).join(' | ');
}

const tableOf = ({ element }: Line): Element | null => closest(element, tables);

function rowsOfLongTables(lines: readonly Line[]): Set<number> {
  const counts = new Map<Element | null, number[]>();
  lines.forEach((line, at) => {
    if (!head.test(line.text)) return;
    const table = tableOf(line);
    const rows = counts.get(table);
    if (rows === undefined) counts.set(table, [at]);
    else rows.push(at);
  });
  return new Set(Array.from(counts.values()).flatMap((rows) => (rows.length < fewest ? [] : rows)));
}

function cellsOf(text: string): string[] {
  const cells = [''];
  for (const [part] of text.matchAll(parts))
    if (part === ' | ') cells.push('');
    else cells.push((cells.pop() ?? '') + part);
  return cells;
}
