import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText, objectAt } from '@tabrelay/plugin-sdk/json';
import { ask, page } from '../api.ts';
import { environment } from '../session.ts';
import { record } from '../shape.ts';

export const listFolders = defineTool({
  name: 'list_folders',
  displayName: 'List folders',
  description:
    'The mail folders of the signed-in person, with how many unread messages are in each, and which are for drafts, sent mail, trash and junk.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: record({
    folders: {
      type: 'array',
      maxItems: 500,
      items: record({
        path: { type: 'string', description: 'What other tools take as folder.' },
        name: { type: 'string' },
        kind: { type: 'string', description: 'inbox, drafts, sent, trash, junk; empty for others.' },
        unread: { type: 'integer' },
      }),
    },
  }),
  async handle(_, { signal }) {
    const { mailboxes } = environment(await page({ _task: 'mail' }, signal));
    const { commands } = await ask({ _task: 'mail', _action: 'getunread' }, signal);
    const unread = new Map(
      commands
        .filter(({ name }) => name === 'set_unread_count')
        .map(({ args: [path, count] }) => [asText(path), asNumber(count)]),
    );
    const folders = Object.values(objectAt(mailboxes)).map((one) => {
      const { id, name, class: kind } = objectAt(one);
      return {
        path: asText(id),
        name: asText(name),
        kind: asText(kind),
        unread: unread.get(asText(id)) ?? 0,
      };
    });
    return { folders: folders.slice(0, 500) };
  },
});
