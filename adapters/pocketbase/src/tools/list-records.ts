import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { type Paging, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list, records } from '../api.ts';
import {
  collectionInput,
  expandInput,
  fieldsInput,
  maxCharsInput,
  pageInput,
  record,
  recordOutput,
  withCollection,
} from '../records.ts';

export const listRecords = defineTool({
  name: 'list_records',
  displayName: 'List records',
  description:
    'Records of a collection, as a query of a table, filtered and sorted by you; total also counts them. For ' +
    'plain words use search_records.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    collection: collectionInput,
    filter: s.string(
      `PocketBase's filter language, such as status = 'open' && created > '2026-01-01'.`,
      {
        default: '',
      },
    ),
    sort: s.string('Fields, comma-separated, - for descending: -created,title.', { default: '' }),
    fields: fieldsInput,
    expand: expandInput,
    maxChars: maxCharsInput,
    ...pageInput,
  }),
  output: s.object({
    records: s.array(recordOutput),
    ...pagingOutput,
  }),
  arrayPath: '.records',
  async handle(
    { collection, filter, sort, fields, expand, maxChars, limit, offset },
    { signal, maxBytes },
  ) {
    const params = { filter, sort, fields: withCollection(fields), expand };
    const read = (one: JsonReader) => record(one, maxChars);
    const answer = (found: ReturnType<typeof read>[], paging: Paging) => ({
      records: found,
      ...paging,
    });
    return list(records(collection), { limit, offset, maxBytes }, params, read, answer, signal);
  },
});
