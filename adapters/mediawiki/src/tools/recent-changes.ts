import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { change, changeOutput, limitInput } from '../pages.ts';

export const recentChanges = defineTool({
  name: 'recent_changes',
  displayName: 'Recent changes',
  description:
    'What was changed lately anywhere in the wiki, by whom, newest first. For one page use ' +
    'page_history, for what the person follows watch_list.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    kind: s.choice(
      ['all', 'edit', 'new', 'log'],
      'Only edits, new pages, or other actions such as uploads and moves.',
      { default: 'all' },
    ),
    user: s.optional(s.string('Only changes by this account.', { minLength: 1 })),
    limit: limitInput,
    olderThan: s.optional(s.string('From next of the previous answer.')),
  }),
  output: s.object({
    changes: s.array(changeOutput),
    next: s.optional(s.string('Present when there are older changes.')),
  }),
  handle({ kind, user, limit, olderThan: after }, { signal, maxBytes }) {
    const params = {
      action: 'query',
      list: 'recentchanges',
      rctype: kind === 'all' ? ['edit', 'new', 'log'] : kind,
      rcuser: user,
      rcprop: ['ids', 'title', 'timestamp', 'user', 'comment', 'flags', 'sizes', 'loginfo'],
    };
    const read = (answer: JsonReader) => answer.list('query', 'recentchanges').map(change);
    return list(
      'rc',
      { limit, after, maxBytes },
      params,
      read,
      (changes, rest) => ({ changes, ...rest }),
      signal,
    );
  },
});
