import { defineTool } from '@tabrelay/plugin-sdk';
import { records, send } from '../api.ts';
import { collectionInput, record, recordOutput } from '../records.ts';

export const createRecord = defineTool({
  name: 'create_record',
  displayName: 'Create a record',
  description:
    'Adds a record to a collection. Read get_collection for its fields first. A user needs password and passwordConfirm; files cannot be sent.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: {
    type: 'object',
    properties: {
      collection: collectionInput,
      fields: { type: 'object', description: 'The values by name of the field.' },
    },
    required: ['collection', 'fields'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { record: recordOutput }, required: ['record'] },
  async handle({ collection, fields }, { signal }) {
    return { record: record(await send('POST', records(collection), fields, signal), 300) };
  },
});
