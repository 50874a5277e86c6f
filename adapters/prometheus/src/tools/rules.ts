import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { labels, labelsOutput } from '../samples.ts';
import { contains, searchInput } from '../search.ts';

export const rules = defineTool({
  name: 'rules',
  displayName: 'Rules',
  description:
    'Alerting and recording rules with their expression, state and last error. For alerts ' +
    'that fire now use alerts.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    type: s.choice(['any', 'alerting', 'recording'], 'Only rules of this kind.', {
      default: 'any',
    }),
    search: searchInput,
    ...pagingInput,
  }),
  output: s.object({
    rules: s.array(
      s.object({
        group: s.string(),
        name: s.string(),
        type: s.string(),
        query: s.string(),
        labels: labelsOutput,
        health: s.string('ok, err or unknown.'),
        lastError: s.string(),
        state: s.optional(s.string('Of an alerting rule: inactive, pending or firing.')),
        forSeconds: s.optional(s.number('Of an alerting rule: how long before it fires.')),
        alerts: s.optional(s.integer('Of an alerting rule: how many are active.')),
      }),
    ),
    ...pagingOutput,
  }),
  arrayPath: '.rules',
  async handle({ type, search, ...part }, { signal, maxBytes }) {
    const { data } = await get('rules', {}, signal);
    const all = data
      .list('groups')
      .flatMap((group) => group.list('rules').map((one) => rule(group.string('name'), one)));
    const wanted = all.filter(
      (one) => (type === 'any' || one.type === type) && contains(one.name, search),
    );
    return listPage(wanted, { ...part, maxBytes }, (rules, paging) => ({ rules, ...paging }));
  },
});

/** A rule without labels, or without an error, leaves them out. */
function rule(group: string, from: JsonReader) {
  const [name, type, set] = [from.string('name'), from.string('type'), from.maybe('labels')];
  return {
    group,
    name,
    type,
    query: from.string('query'),
    labels: set === undefined ? {} : labels(set),
    health: from.string('health'),
    lastError: from.maybe('lastError')?.string() ?? '',
    ...(type === 'alerting' && {
      state: from.string('state'),
      forSeconds: from.number('duration'),
    }),
    ...(type === 'alerting' && { alerts: from.list('alerts').length }),
  };
}
