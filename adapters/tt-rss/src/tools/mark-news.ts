import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act } from '../api.ts';
import { articlesMustExist } from '../articles.ts';
import { articleIds } from '../shape.ts';

const changes = {
  read: ['RPC.catchupSelected', 0],
  unread: ['RPC.catchupSelected', 1],
  starred: ['RPC.markSelected', 1],
  unstarred: ['RPC.markSelected', 0],
} as const;

export const markNews = defineTool({
  name: 'mark_news',
  displayName: 'Mark news',
  description: 'Marks articles as read or unread, or stars them or takes the star off.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: s.parameters({
    ids: articleIds,
    as: s.choice(['read', 'unread', 'starred', 'unstarred'], 'What they become.'),
  }),
  output: s.object({ changed: s.integer('How many articles.') }),
  async handle({ ids, as }, { signal }) {
    await articlesMustExist(ids, signal);
    const [method, cmode] = changes[as];
    await act(method, { ids: ids.join(','), cmode }, { signal });
    return { changed: ids.length };
  },
});
