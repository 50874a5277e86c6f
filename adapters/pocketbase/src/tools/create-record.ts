import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { records, send } from '../api.ts';
import { collectionInput, record, recordOutput } from '../records.ts';

export const createRecord = defineTool({
  name: 'create_record',
  displayName: 'Create a record',
  description:
    'Adds a record to a collection. Read get_collection for its fields first. A user needs ' +
    'password and passwordConfirm; files cannot be sent.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: s.parameters({
    collection: collectionInput,
    fields: { type: 'object', description: 'The values by name of the field.' },
  }),
  output: s.object({
    record: recordOutput,
  }),
  async handle({ collection, fields }, { signal }) {
    return { record: record(await send('POST', records(collection), fields, signal), 300) };
  },
});
