import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { captionOf, readGrid, tables } from '../grid.ts';
import { limitInput } from '../limits.ts';
import { here, hereOutput } from '../page.ts';

export const readTable = defineTool({
  name: 'read_table',
  displayName: 'Read table',
  description:
    'One table of an open page as columns and rows. A cell that spans several places ' +
    'stands in each of them. list_tables says which there are.',
  annotations: { readOnlyHint: true },
  arrayPath: '.rows',
  input: s.parameters({
    index: s.optional(
      s.integer('From list_tables. Left out: the first, or by caption.', { minimum: 0 }),
    ),
    caption: s.optional(
      s.string('Words in its caption, case ignored.', { minLength: 1, maxLength: 200 }),
    ),
    offset: pagingInput.offset,
    limit: limitInput(25),
  }),
  output: s.object({
    ...hereOutput,
    index: s.integer(),
    caption: s.string(),
    columns: s.array(s.string(), 'Empty: there is no header.', { maxItems: 200 }),
    rows: s.array(s.array(s.string())),
    ...pagingOutput,
  }),
  handle({ index, caption, offset, limit }, { maxBytes }) {
    const found = tables();
    const wanted = caption?.toLowerCase();
    const at =
      wanted === undefined
        ? (index ?? 0)
        : found.findIndex(
            (one, i) => captionOf(one).toLowerCase().includes(wanted) && (index ?? i) === i,
          );
    const table = found[at];
    if (table === undefined) {
      const which = wanted === undefined ? `table ${at}` : `table with "${caption}" in its caption`;
      throw ToolError.notFound(
        `There is no ${which}; the page has ${found.length}. list_tables names them.`,
      );
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
