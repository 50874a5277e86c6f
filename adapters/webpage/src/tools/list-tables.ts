import { defineTool } from '@tabrelay/plugin-sdk';
import { listPart, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { readGrid, tables } from '../grid.ts';
import { limitInput } from '../limits.ts';
import { cut, here, hereOutput } from '../page.ts';

export const listTables = defineTool({
  name: 'list_tables',
  displayName: 'List tables',
  description:
    'Which tables an open page has: caption, columns, number of rows. Read one with read_table, by its index or caption.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: { offset: pagingInput.offset, limit: limitInput(20) },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      ...hereOutput,
      tables: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            index: { type: 'integer' },
            caption: { type: 'string' },
            columns: { type: 'array', maxItems: 30, items: { type: 'string' } },
            rows: { type: 'integer' },
          },
          required: ['index', 'caption', 'columns', 'rows'],
        },
      },
      ...pagingOutput,
    },
    required: ['url', 'title', 'tables', 'total'],
  },
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
    return listPart(some, known, (described, paging) => ({ ...here(), tables: described, ...paging }));
  },
});
