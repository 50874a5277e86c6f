import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act, ask } from '../api.ts';
import { mustExist } from '../messages.ts';
import { folder, uids } from '../shape.ts';

export const deleteMessages = defineTool({
  name: 'delete_messages',
  displayName: 'Delete messages',
  description:
    'Moves messages to the trash. Those in it already, or where there is none, are deleted for ' +
    'good: ask the person first.',
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: s.parameters({
    folder,
    uids,
  }),
  output: s.object({
    deleted: s.integer(),
    forGood: s.boolean(),
    said: s.string('What the webmail told the person.'),
  }),
  async handle({ folder, uids }, { signal }) {
    await mustExist(folder, uids, signal);
    // Left out, or empty, where the person has no folder for it.
    const { env } = await ask({ _task: 'mail', _action: 'list', _mbox: folder }, signal);
    const trash = env.maybe('trash_mailbox')?.string() ?? '';
    const forGood = trash === '' || folder === trash;
    const body = { _mbox: folder, _uid: uids.join(','), _target_mbox: forGood ? undefined : trash };
    const { said } = await act(
      { _task: 'mail', _action: forGood ? 'delete' : 'move' },
      body,
      signal,
    );
    return { deleted: uids.length, forGood, said };
  },
});
