// Many things alike that have no names, such as the fields of a board or the days of a year, are told as one line with
// their places in rows and columns. What differs from most of them is said.
import { connected, holder, tag } from './dom.ts';
import type { Line } from './lines.ts';
import { calledLast } from './references.ts';
import { quote } from './words.ts';

const fewest = 6; // things that are told together
const mostApart = 36; // that each have their own reference in the line; of more, first and last
const mostOther = 20; // that differ from the others

/** A thing in a line of its own that has no name but a hint. */
interface Cell {
  line: Line;
  ref: string;
  role: string;
  name: string;
}

/** Lines, with those of many nameless things together. */
export function inGrids(all: readonly Line[]): Line[] {
  const told: Line[] = [];
  let cells: Cell[] = [];
  const end = () => {
    if (cells.length < fewest) told.push(...cells.map(({ line }) => line));
    else told.push(lineOf(cells));
    cells = [];
  };
  all.forEach((line, at) => {
    const cell = isDeeper(all[at + 1], line) ? undefined : cellOf(line);
    if (cell === undefined || !isAlike(cells[0], cell)) end();
    if (cell === undefined) told.push(line);
    else cells.push(cell);
  });
  end();
  return told;
}

const isDeeper = (next: Line | undefined, line: Line): boolean =>
  next !== undefined && next.depth > line.depth;

const isAlike = (first: Cell | undefined, cell: Cell): boolean =>
  first === undefined ||
  (first.role === cell.role &&
    first.line.depth === cell.line.depth &&
    areTogether(first.line.element, cell.line.element));

// In one box, or in rows of one box.
function areTogether(one: Element, other: Element): boolean {
  const [a, b] = [holder(one), holder(other)];
  return a === b || (a !== undefined && b !== undefined && tag(a) === tag(b) && holder(a) === holder(b));
}

const bare = /^([a-z]+)(?: "(?:[^"\\]|\\.)*")? \[(?:f\d+)?e\d+\]$/;

function cellOf(line: Line): Cell | undefined {
  if (line.ref === undefined || line.frame === true || !bare.test(line.text)) return undefined;
  const called = calledLast(line.ref)?.called;
  if (called?.unnamed !== true || !connected(line.element)) return undefined;
  return { line, ref: line.ref, role: called.role, name: called.name };
}

function lineOf(cells: readonly Cell[]): Line {
  const [first] = cells;
  const rows = inRows(cells);
  const usual = usualName(cells);
  const role = first?.role ?? '';
  const named = usual === '' ? '' : ` ${quote(usual)}`;
  const said = cells.length > mostApart ? sayMany(cells, usual) : sayEach(rows, usual);
  const { depth, element } = first?.line ?? { depth: 0, element: document.documentElement };
  return { depth, element, text: `${sayShape(rows)} of ${role}${named}: ${said}` };
}

function sayShape(rows: readonly (readonly Cell[])[]): string {
  const [{ length } = []] = rows;
  if (rows.length > 1 && rows.every((row) => row.length === length)) return `grid ${rows.length}x${length}`;
  return rows.length > 1 ? `${rows.length} rows` : `${length}`;
}

// As they are drawn: a row ends where the next one stands below it.
function inRows(cells: readonly Cell[]): Cell[][] {
  const rows: Cell[][] = [];
  let before: DOMRect | undefined;
  for (const cell of cells) {
    const box = Element.prototype.getBoundingClientRect.call(cell.line.element);
    const row = rows.at(-1);
    if (
      row === undefined ||
      before === undefined ||
      box.top >= before.bottom - 1 ||
      box.bottom <= before.top + 1
    )
      rows.push([cell]);
    else row.push(cell);
    before = box;
  }
  return rows;
}

function usualName(cells: readonly Cell[]): string {
  const counts = new Map<string, number>();
  for (const { name } of cells) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [[name, times] = ['', 0]] = Array.from(counts).sort(([, a], [, b]) => b - a);
  return times > 1 ? name : '';
}

const sayCell = ({ ref, name }: Cell, usual: string): string =>
  name === usual || name === '' ? `[${ref}]` : `${quote(name)} [${ref}]`;

const sayEach = (rows: readonly (readonly Cell[])[], usual: string): string =>
  rows.map((row) => row.map((cell) => sayCell(cell, usual)).join(' ')).join(' / ');

// Their references, row by row; those that follow each other as first and last.
function sayMany(cells: readonly Cell[], usual: string): string {
  const spans: [from: string, to: string][] = [];
  for (const { ref } of cells) {
    const last = spans.at(-1);
    if (last !== undefined && numberOf(ref) === numberOf(last[1]) + 1) last[1] = ref;
    else spans.push([ref, ref]);
  }
  const refs = spans.map(([from, to]) => (from === to ? `[${from}]` : `[${from}] to [${to}]`)).join(', ');
  const others = cells.filter(({ name }) => name !== usual);
  const some = others.slice(0, mostOther).map((cell) => sayCell(cell, usual));
  const more = others.length > mostOther ? ` and ${others.length - mostOther} more` : '';
  return `${refs}, row by row${some.length > 0 ? `; ${some.join(', ')}${more}` : ''}`;
}

const numberOf = (ref: string): number => Number(/(\d+)$/.exec(ref)?.[1]);
