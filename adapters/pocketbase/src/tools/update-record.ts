import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get, records, send } from '../api.ts';
import { collectionInput, idInput, record, recordOutput } from '../records.ts';

export const updateRecord = defineTool({
  name: 'update_record',
  displayName: 'Update a record',
  description:
    'Changes some fields of a record and leaves the others. Pass the updated time you saw, ' +
    'and a record that somebody changed since is CONFLICT and stays as it is.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: s.parameters({
    collection: collectionInput,
    id: idInput,
    fields: {
      type: 'object',
      description: 'New values by name; name+ and name- add to and take from a list or a number.',
    },
    seenUpdated: s.optional(s.string('The updated field of the record as you read it.')),
  }),
  output: s.object({
    record: recordOutput,
  }),
  async handle({ collection, id, fields, seenUpdated }, { signal }) {
    if (seenUpdated !== undefined)
      await expectUnchanged(records(collection, id), seenUpdated, signal);
    return { record: record(await send('PATCH', records(collection, id), fields, signal), 300) };
  },
});

/** The server has no condition of its own for this: a change in the moment between is not seen. */
async function expectUnchanged(path: string, seen: string, signal: AbortSignal): Promise<void> {
  const found = await get(path, { fields: 'updated,collectionId' }, signal);
  found.string('collectionId');
  const now = found.maybe('updated')?.string() ?? '';
  if (now === seen) return;
  throw new ToolError(
    now === ''
      ? 'This collection keeps no updated field. Nothing was changed; call again without ' +
          'seenUpdated.'
      : `The record was changed at ${now}, after the ${seen} you read. Nothing was changed. Read it again first.`,
    now === '' ? 'VALIDATION_ERROR' : 'CONFLICT',
    { category: 'validation', outcome: 'not_executed' },
  );
}
