import { listPart } from '@tabrelay/plugin-sdk/paging';
import { readGrid, tables } from './grid.ts';
import { cut, here } from './page.ts';

import type { Reading, Room } from './request.ts';

export function listTables({ offset, limit }: Reading, { maxBytes }: Room) {
  const all = tables();
  const some = all.slice(offset, offset + limit).map((table, at) => {
    const { caption, columns, rows } = readGrid(table);
    return {
      index: offset + at,
      caption,
      columns: columns.slice(0, 30).map((name) => cut(name, 100)),
      rows: rows.length,
    };
  });
  const known = { offset, total: all.length, maxBytes };
  return listPart(some, known, (described, paging) => ({
    ...here(),
    tables: described,
    ...paging,
  }));
}
