import { defineTool } from '@tabrelay/plugin-sdk';
import { records, remove } from '../api.ts';
import { collectionInput, idInput } from '../records.ts';

export const deleteRecord = defineTool({
  name: 'delete_record',
  displayName: 'Delete a record',
  description:
    'Deletes a record for good, with the records that cascade from it. Show the person what goes, and ask before you call it.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: {
    type: 'object',
    properties: { collection: collectionInput, id: idInput },
    required: ['collection', 'id'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { collection: { type: 'string' }, deleted: { type: 'string', description: 'The id.' } },
    required: ['collection', 'deleted'],
  },
  async handle({ collection, id }, { signal }) {
    await remove(records(collection, id), signal);
    return { collection, deleted: id };
  },
});
