import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { asText, isTrue, objectsIn } from '@tabrelay/plugin-sdk/json';
import { containing, get, records } from '../api.ts';
import {
  collectionInput,
  maxCharsInput,
  pageInput,
  pageOf,
  pageOutput,
  record,
  recordOutput,
} from '../records.ts';

const searched = new Set(['text', 'editor', 'email', 'url', 'select', 'json']);

export const searchRecords = defineTool({
  name: 'search_records',
  displayName: 'Search records',
  description:
    'Records of a collection that contain some text in any of their fields. For exact conditions use list_records.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      collection: collectionInput,
      text: {
        type: 'string',
        minLength: 1,
        description: 'What to find, in any case; % stands for anything.',
      },
      maxChars: maxCharsInput,
      ...pageInput,
    },
    required: ['collection', 'text'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { records: { type: 'array', items: recordOutput }, ...pageOutput },
    required: ['records', 'total'],
  },
  arrayPath: '.records',
  async handle({ collection, text: wanted, maxChars, limit, page }, { signal }) {
    const schema = await get(`collections/${encodeURIComponent(collection)}`, {}, signal);
    const fields = objectsIn(schema.fields).filter(
      (field) => searched.has(asText(field.type)) && !isTrue(field.hidden),
    );
    if (fields.length === 0)
      throw ToolError.validation(`The collection "${collection}" has no field with text.`);
    const filter = fields.map((field) => `${asText(field.name)} ~ ${containing(wanted)}`).join(' || ');
    const answer = await get(records(collection), { page, perPage: limit, filter }, signal);
    return { records: objectsIn(answer.items).map((one) => record(one, maxChars)), ...pageOf(answer) };
  },
});
