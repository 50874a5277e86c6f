import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act } from '../api.ts';
import { mustExist } from '../messages.ts';
import { changedOutput, folder, uids } from '../shape.ts';

export const moveMessages = defineTool({
  name: 'move_messages',
  displayName: 'Move messages',
  description:
    'Moves messages to another folder, such as an archive. There they have other uids: ' +
    'list it to see them.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({
    folder,
    uids,
    to: s.string('The path of the other folder, from list_folders.', { minLength: 1 }),
  }),
  output: changedOutput,
  async handle({ folder, uids, to }, { signal }) {
    await mustExist(folder, uids, signal);
    const body = { _mbox: folder, _uid: uids.join(','), _target_mbox: to };
    const { said } = await act({ _task: 'mail', _action: 'move' }, body, signal);
    return { changed: uids.length, said };
  },
});
