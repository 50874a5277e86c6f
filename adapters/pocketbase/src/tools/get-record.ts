import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get, records } from '../api.ts';
import {
  collectionInput,
  expandInput,
  fieldsInput,
  idInput,
  maxCharsInput,
  record,
  recordOutput,
  withCollection,
} from '../records.ts';

export const getRecord = defineTool({
  name: 'get_record',
  displayName: 'Get a record',
  description:
    'One record by its id, with longer texts than a list has and with its relations when ' +
    'you ask for them.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    collection: collectionInput,
    id: idInput,
    fields: fieldsInput,
    expand: expandInput,
    maxChars: { ...maxCharsInput, default: 5000 },
  }),
  output: s.object({
    record: recordOutput,
  }),
  async handle({ collection, id, fields, expand, maxChars }, { signal }) {
    const found = await get(
      records(collection, id),
      { fields: withCollection(fields), expand },
      signal,
    );
    return { record: record(found, maxChars) };
  },
});
