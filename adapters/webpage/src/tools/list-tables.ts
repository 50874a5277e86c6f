import { defineTool } from '@tabrelay/plugin-sdk';
import { listPart, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { readGrid, tables } from '../grid.ts';
import { limitInput } from '../limits.ts';
import { cut, here, hereOutput } from '../page.ts';

export const listTables = defineTool({
  name: 'list_tables',
  displayName: 'List tables',
  description:
    'Which tables an open page has: caption, columns, number of rows. Read one with ' +
    'read_table, by its index or caption.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    offset: pagingInput.offset,
    limit: limitInput(20),
  }),
  output: s.object({
    ...hereOutput,
    tables: s.array(
      s.object({
        index: s.integer(),
        caption: s.string(),
        columns: s.array(s.string(), { maxItems: 30 }),
        rows: s.integer(),
      }),
    ),
    ...pagingOutput,
  }),
  handle({ offset, limit }, { maxBytes }) {
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
  },
});
