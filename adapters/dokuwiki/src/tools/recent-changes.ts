import { defineTool } from '@tabrelay/plugin-sdk';
import { fitting } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { gather, recent } from '../changes.ts';
import { changeProperties } from '../pages.ts';

export const recentChanges = defineTool({
  name: 'recent_changes',
  displayName: 'Recent changes',
  description:
    'What was changed lately anywhere in the wiki or in one namespace, by whom, newest first. For one page ' +
    'use page_history.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    kind: s.choice(['pages', 'mediafiles', 'both'], 'Changes of pages, of files, or both.', {
      default: 'pages',
    }),
    namespace: s.string('Only in it: "animals"; empty for all.', { default: '' }),
    limit: s.integer('How many changes.', { minimum: 1, maximum: 100, default: 20 }),
    offset: s.integer('From nextOffset of the previous answer.', { minimum: 0, default: 0 }),
  }),
  output: s.object({
    changes: s.array(
      s.object({
        id: s.string(),
        kind: s.choice(['page', 'file']),
        date: s.string('As the wiki shows it.'),
        gone: s.boolean('It was deleted.'),
        ...changeProperties,
      }),
    ),
    nextOffset: s.optional(s.integer('Present when there are older changes.')),
  }),
  async handle({ kind, namespace, limit, offset }, { signal, maxBytes }) {
    const part = await gather(limit, offset, (first) => recent({ kind, namespace, first }, signal));
    const make = (count: number) => {
      const isAll = count === part.items.length && part.isLast;
      return {
        changes: part.items.slice(0, count),
        ...(isAll || count === 0 ? {} : { nextOffset: offset + count }),
      };
    };
    return make(fitting(part.items.length, { maxBytes }, make));
  },
});
