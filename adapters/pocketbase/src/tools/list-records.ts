import { defineTool } from '@tabrelay/plugin-sdk';
import { objectsIn } from '@tabrelay/plugin-sdk/json';
import { get, records } from '../api.ts';
import {
  collectionInput,
  expandInput,
  fieldsInput,
  maxCharsInput,
  pageInput,
  pageOf,
  pageOutput,
  record,
  recordOutput,
} from '../records.ts';

export const listRecords = defineTool({
  name: 'list_records',
  displayName: 'List records',
  description:
    'Records of a collection, filtered and sorted by you; total also counts them. For plain words use search_records.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      collection: collectionInput,
      filter: {
        type: 'string',
        default: '',
        description: `PocketBase's filter language, such as status = 'open' && created > '2026-01-01'.`,
      },
      sort: {
        type: 'string',
        default: '',
        description: 'Fields, comma-separated, - for descending: -created,title.',
      },
      fields: fieldsInput,
      expand: expandInput,
      maxChars: maxCharsInput,
      ...pageInput,
    },
    required: ['collection'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { records: { type: 'array', items: recordOutput }, ...pageOutput },
    required: ['records', 'total'],
  },
  arrayPath: '.records',
  async handle({ collection, filter, sort, fields, expand, maxChars, limit, page }, { signal }) {
    const params = { page, perPage: limit, filter, sort, fields: fields || undefined, expand };
    const answer = await get(records(collection), params, signal);
    return { records: objectsIn(answer.items).map((one) => record(one, maxChars)), ...pageOf(answer) };
  },
});
