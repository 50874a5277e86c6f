import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { type Paging, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { containing, get, list, records } from '../api.ts';
import { collectionInput, maxCharsInput, pageInput, record, recordOutput } from '../records.ts';

const searched = new Set(['text', 'editor', 'email', 'url', 'select', 'json']);

export const searchRecords = defineTool({
  name: 'search_records',
  displayName: 'Search records',
  description:
    'Records of a collection that contain some text in any of their fields. For exact ' +
    'conditions use list_records.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    collection: collectionInput,
    text: s.string('What to find, in any case; % stands for anything.', { minLength: 1 }),
    maxChars: maxCharsInput,
    ...pageInput,
  }),
  output: s.object({
    records: s.array(recordOutput),
    ...pagingOutput,
  }),
  arrayPath: '.records',
  async handle({ collection, text: wanted, maxChars, limit, offset }, { signal, maxBytes }) {
    const schema = await get(`collections/${encodeURIComponent(collection)}`, {}, signal);
    const fields = schema
      .list('fields')
      .filter((field) => searched.has(field.string('type')) && !field.flag('hidden'));
    if (fields.length === 0)
      throw ToolError.validation(`The collection "${collection}" has no field with text.`);
    const filter = fields
      .map((field) => `${field.string('name')} ~ ${containing(wanted)}`)
      .join(' || ');
    const read = (one: JsonReader) => record(one, maxChars);
    const answer = (found: ReturnType<typeof read>[], paging: Paging) => ({
      records: found,
      ...paging,
    });
    return list(records(collection), { limit, offset, maxBytes }, { filter }, read, answer, signal);
  },
});
