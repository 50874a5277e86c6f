// Tables as data: a cell that spans stands in every place it covers.
// https://html.spec.whatwg.org/multipage/tables.html#algorithm-for-processing-rows

import { all, attribute, closest, matches } from './members.ts';
import { cut, line } from './page.ts';
import { findShown, shown } from './shown.ts';
import { textOf } from './words.ts';

const maxColumns = 200;
const maxRows = 20_000;
const maxCell = 500; // characters

export interface Grid {
  caption: string;
  /** One name for each column, from the header rows; empty when the table has none. */
  columns: string[];
  rows: string[][];
}

const tableSelector = 'table, [role="table"], [role="grid"], [role="treegrid"]';
const rowSelector = 'tr, [role="row"]';
const cellSelector = 'td, th, [role="cell"], [role="gridcell"], [role="columnheader"], [role="rowheader"]';
const headSelector = 'th, [role="columnheader"]';

/** The tables of the page, but those that only arrange it. */
export function tables(): Element[] {
  const found: Element[] = [];
  for (const table of findShown(tableSelector)) {
    if (!matches(table, '[role="presentation"], [role="none"]') && rowsOf(table).length > 0)
      found.push(table);
  }
  return found;
}

const rowsOf = (table: Element): Element[] => nearest(table, rowSelector, tableSelector).slice(0, maxRows);

/** What matches inside, but not inside something nested of the same kind. */
const nearest = (within: Element, selector: string, kind: string): Element[] =>
  all(within, selector).filter((one) => one.parentElement && closest(one.parentElement, kind) === within);

export function captionOf(table: Element): string {
  const [caption] = nearest(table, 'caption', tableSelector);
  const text = caption === undefined ? '' : textOf(caption);
  return cut(line(text || attribute(table, 'aria-label') || attribute(table, 'summary')), 300);
}

export function readGrid(table: Element): Grid {
  const places: string[][] = [];
  const heads: boolean[] = [];
  const lines = rowsOf(table).filter(shown);
  let width = 0;
  lines.forEach((row, y) => {
    const cells = nearest(row, cellSelector, rowSelector);
    heads[y] =
      closest(row, 'thead') !== null ||
      (cells.length > 0 && cells.every((one) => matches(one, headSelector)));
    width = Math.max(width, put(cells, y, places, lines.length));
  });
  const first = heads.indexOf(false);
  const headRows = first < 0 ? (heads.length > 1 ? 1 : 0) : first;
  const rows = places.map((row) => Array.from({ length: width }, (_, x) => row[x] ?? ''));
  return {
    caption: captionOf(table),
    columns: names(rows.slice(0, headRows), width),
    rows: rows.slice(headRows),
  };
}

/**
 * Puts the cells of row y into the first free places, and into all places they span. Answers how many columns there
 * are up to the last that begins a cell: one that only a span reaches ("colspan=100" means "all") has nothing to say.
 */
function put(cells: readonly Element[], y: number, places: string[][], rows: number): number {
  places[y] ??= [];
  let [x, begun] = [0, 0];
  for (const cell of cells) {
    while (places[y]?.[x] !== undefined) x++;
    if (x >= maxColumns) break;
    begun = x + 1;
    const text = cut(line(textOf(cell)), maxCell);
    const wide = span(cell, 'colspan', maxColumns);
    const high = span(cell, 'rowspan', rows - y);
    for (let dy = 0; dy < high; dy++) {
      const row = places[y + dy] ?? [];
      places[y + dy] = row;
      for (let dx = 0; dx < wide && x + dx < maxColumns; dx++) row[x + dx] ??= text;
    }
    x += wide;
  }
  return begun;
}

const span = (cell: Element, name: string, most: number): number =>
  Math.min(Math.max(Number.parseInt(attribute(cell, name), 10) || 1, 1), most);

/** Header rows joined: "2024 / Sales". A name that stands above itself is written once. */
function names(heads: readonly string[][], width: number): string[] {
  if (heads.length === 0) return [];
  return Array.from({ length: width }, (_, x) =>
    Array.from(new Set(heads.map((row) => row[x] ?? '').filter((text) => text !== ''))).join(' / '),
  );
}
