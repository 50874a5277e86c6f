import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act } from '../api.ts';
import { mustExist } from '../messages.ts';
import { changedOutput, folder, uids } from '../shape.ts';

export const markMessages = defineTool({
  name: 'mark_messages',
  displayName: 'Mark messages',
  description: 'Marks messages as read or unread, or puts a flag on them or takes it off.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: s.parameters({
    folder,
    uids,
    as: s.choice(['read', 'unread', 'flagged', 'unflagged'], 'What they become.'),
  }),
  output: changedOutput,
  async handle({ folder, uids, as }, { signal }) {
    await mustExist(folder, uids, signal);
    const body = { _mbox: folder, _uid: uids.join(','), _flag: as };
    const { said } = await act({ _task: 'mail', _action: 'mark' }, body, signal);
    return { changed: uids.length, said };
  },
});
