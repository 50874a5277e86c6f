import { defineTool } from '@tabrelay/plugin-sdk';
import { jsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { ask, page } from '../api.ts';
import { environment } from '../session.ts';

export const listFolders = defineTool({
  name: 'list_folders',
  displayName: 'List folders',
  description:
    'The mail folders with their unread messages, and which are for drafts, sent mail, trash and ' +
    'junk.',
  annotations: { readOnlyHint: true },
  input: s.parameters({}),
  output: s.object({
    folders: s.array(
      s.object({
        path: s.string('What other tools take as folder.'),
        name: s.string(),
        kind: s.string('inbox, drafts, sent, trash, junk; empty for others.'),
        unread: s.integer(),
      }),
      { maxItems: 500 },
    ),
  }),
  async handle(_, { signal }) {
    const mailboxes = environment(await page({ _task: 'mail' }, signal)).entries('mailboxes');
    const { commands } = await ask({ _task: 'mail', _action: 'getunread' }, signal);
    const counts = commands
      .filter(({ name }) => name === 'set_unread_count')
      .map(({ args }) => args);
    const unread = new Map(counts.map(([path, count]) => [path, jsonReader(count).number()]));
    const folders = mailboxes.map(([, one]) => {
      const path = one.string('id');
      // Folders whose count the webmail does not say have none.
      const facts = { kind: one.maybe('class')?.string() ?? '', unread: unread.get(path) ?? 0 };
      return { path, name: one.string('name'), ...facts };
    });
    return { folders: folders.slice(0, 500) };
  },
});
