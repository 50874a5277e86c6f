import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText, type JsonObject, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { pageOf, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
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
  async handle({ type, search, ...part }, { signal }) {
    const { data } = await get('rules', {}, signal);
    const all = objectsIn(objectAt(data).groups).flatMap((group) =>
      objectsIn(group.rules).map((one) => rule(group, one)),
    );
    const wanted = all.filter((one) => (type === 'any' || one.type === type) && contains(one.name, search));
    const { items, paging } = pageOf(wanted, part);
    return { rules: items, ...paging };
  },
});

const rule = (group: JsonObject, from: JsonObject) => ({
  group: asText(group.name),
  name: asText(from.name),
  type: asText(from.type),
  query: asText(from.query),
  labels: labels(from.labels),
  health: asText(from.health),
  lastError: asText(from.lastError),
  ...(from.type === 'alerting' && {
    state: asText(from.state),
    forSeconds: asNumber(from.duration),
    alerts: objectsIn(from.alerts).length,
  }),
});
