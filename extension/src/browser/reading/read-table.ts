import { ToolError } from '@tabrelay/plugin-sdk';
import { listPage } from '@tabrelay/plugin-sdk/paging';
import { captionOf, readGrid, tables } from './grid.ts';
import { here } from './page.ts';

import type { Reading, Room } from './request.ts';

export function readTable({ index, caption, offset, limit }: Reading, { maxBytes }: Room) {
  const found = tables();
  const wanted = caption?.toLowerCase();
  const at =
    wanted === undefined
      ? (index ?? 0)
      : found.findIndex((one, i) => captionOf(one).toLowerCase().includes(wanted) && (index ?? i) === i);
  const table = found[at];
  if (table === undefined) {
    const which = wanted === undefined ? `table ${at}` : `table with "${caption}" in its caption`;
    throw ToolError.notFound(
      `There is no ${which}; the page has ${found.length}. Read tables without table for their names.`,
    );
  }
  const grid = readGrid(table);
  const about = { ...here(), index: at, caption: grid.caption, columns: grid.columns };
  return listPage(grid.rows, { limit, offset, maxBytes }, (rows, paging) => ({
    ...about,
    rows,
    ...paging,
  }));
}
