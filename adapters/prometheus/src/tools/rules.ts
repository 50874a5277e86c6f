import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';
import { labels, labelsOutput } from '../samples.ts';
import { contains, searchInput } from '../search.ts';

export const rules = defineTool({
  name: 'rules',
  displayName: 'Rules',
  description:
    'Alerting and recording rules with their expression, state and last error. For alerts that fire now use alerts.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      type: {
        type: 'string',
        enum: ['any', 'alerting', 'recording'],
        default: 'any',
        description: 'Only rules of this kind.',
      },
      search: searchInput,
      ...pagingInput,
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      rules: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            group: { type: 'string' },
            name: { type: 'string' },
            type: { type: 'string' },
            query: { type: 'string' },
            labels: labelsOutput,
            health: { type: 'string', description: 'ok, err or unknown.' },
            lastError: { type: 'string' },
            state: { type: 'string', description: 'Of an alerting rule: inactive, pending or firing.' },
            forSeconds: { type: 'number', description: 'Of an alerting rule: how long before it fires.' },
            alerts: { type: 'integer', description: 'Of an alerting rule: how many are active.' },
          },
          required: ['group', 'name', 'type', 'query', 'labels', 'health', 'lastError'],
        },
      },
      ...pagingOutput,
    },
    required: ['rules', 'total'],
  },
  arrayPath: '.rules',
  async handle({ type, search, ...part }, { signal, maxBytes }) {
    const { data } = await get('rules', {}, signal);
    const all = data
      .list('groups')
      .flatMap((group) => group.list('rules').map((one) => rule(group.string('name'), one)));
    const wanted = all.filter((one) => (type === 'any' || one.type === type) && contains(one.name, search));
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
    ...(type === 'alerting' && { state: from.string('state'), forSeconds: from.number('duration') }),
    ...(type === 'alerting' && { alerts: from.list('alerts').length }),
  };
}
