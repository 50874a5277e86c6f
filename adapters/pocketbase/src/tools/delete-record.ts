import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { records, remove } from '../api.ts';
import { collectionInput, idInput } from '../records.ts';

export const deleteRecord = defineTool({
  name: 'delete_record',
  displayName: 'Delete a record',
  description:
    'Deletes a record for good, with the records that cascade from it. Show the person ' +
    'what goes, and ask before you call it.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: s.parameters({
    collection: collectionInput,
    id: idInput,
  }),
  output: s.object({
    collection: s.string(),
    deleted: s.string('The id.'),
  }),
  async handle({ collection, id }, { signal }) {
    await remove(records(collection, id), signal);
    return { collection, deleted: id };
  },
});
