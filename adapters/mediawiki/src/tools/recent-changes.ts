import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { list } from '../api.ts';
import { change, changeOutput, limitInput } from '../pages.ts';

export const recentChanges = defineTool({
  name: 'recent_changes',
  displayName: 'Recent changes',
  description:
    'What was changed lately anywhere in the wiki, by whom, newest first; or only by one person. For one page use page_history, for what the person follows watch_list.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      kind: {
        type: 'string',
        enum: ['all', 'edit', 'new', 'log'],
        default: 'all',
        description: 'Only edits, new pages, or other actions such as uploads and moves.',
      },
      user: { type: 'string', minLength: 1, description: 'Only changes by this account.' },
      limit: limitInput,
      olderThan: { type: 'string', description: 'From next of the answer before.' },
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      changes: {
        type: 'array',
        items: changeOutput,
      },
      next: { type: 'string', description: 'Present when there are older changes.' },
    },
    required: ['changes'],
  },
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
