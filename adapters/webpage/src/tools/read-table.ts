import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { captionOf, readGrid, tables } from '../grid.ts';
import { limitInput } from '../limits.ts';
import { here, hereOutput } from '../page.ts';

export const readTable = defineTool({
  name: 'read_table',
  displayName: 'Read table',
  description:
    'One table of an open page as columns and rows. A cell that spans several places stands in each of them. list_tables says which there are.',
  annotations: { readOnlyHint: true },
  arrayPath: '.rows',
  input: {
    type: 'object',
    properties: {
      index: {
        type: 'integer',
        minimum: 0,
        description: 'From list_tables. Left out: the first, or by caption.',
      },
      caption: {
        type: 'string',
        minLength: 1,
        maxLength: 200,
        description: 'Words in its caption, case ignored.',
      },
      offset: pagingInput.offset,
      limit: limitInput(25),
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      ...hereOutput,
      index: { type: 'integer' },
      caption: { type: 'string' },
      columns: {
        type: 'array',
        maxItems: 200,
        items: { type: 'string' },
        description: 'Empty: there is no header.',
      },
      rows: { type: 'array', items: { type: 'array', items: { type: 'string' } } },
      ...pagingOutput,
    },
    required: ['url', 'title', 'index', 'caption', 'columns', 'rows', 'total'],
  },
  handle({ index, caption, offset, limit }, { maxBytes }) {
    const found = tables();
    const wanted = caption?.toLowerCase();
    const at =
      wanted === undefined
        ? (index ?? 0)
        : found.findIndex((one, i) => captionOf(one).toLowerCase().includes(wanted) && (index ?? i) === i);
    const table = found[at];
    if (table === undefined) {
      const which = wanted === undefined ? `table ${at}` : `table with "${caption}" in its caption`;
      throw ToolError.notFound(`There is no ${which}; the page has ${found.length}. list_tables names them.`);
    }
    const grid = readGrid(table);
    const about = { ...here(), index: at, caption: grid.caption, columns: grid.columns };
    return listPage(grid.rows, { limit, offset, maxBytes }, (rows, paging) => ({
      ...about,
      rows,
      ...paging,
    }));
  },
});
