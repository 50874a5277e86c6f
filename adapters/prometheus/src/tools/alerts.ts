import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { pageOf, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';
import { labels, labelsOutput } from '../samples.ts';

export const alerts = defineTool({
  name: 'alerts',
  displayName: 'Alerts',
  description: 'Alerts that fire now or are pending, with their labels, annotations, value and since when.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      state: {
        type: 'string',
        enum: ['any', 'firing', 'pending'],
        default: 'any',
        description: 'Only alerts in this state.',
      },
      ...pagingInput,
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      alerts: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            state: { type: 'string' },
            labels: labelsOutput,
            annotations: labelsOutput,
            activeAt: { type: 'string' },
            value: { type: 'string' },
          },
          required: ['name', 'state', 'labels', 'annotations', 'activeAt', 'value'],
        },
      },
      ...pagingOutput,
    },
    required: ['alerts', 'total'],
  },
  arrayPath: '.alerts',
  async handle({ state, ...part }, { signal }) {
    const { data } = await get('alerts', {}, signal);
    const all = objectsIn(objectAt(data).alerts).map((one) => ({
      name: asText(objectAt(one.labels).alertname),
      state: asText(one.state),
      labels: labels(one.labels),
      annotations: labels(one.annotations),
      activeAt: asText(one.activeAt),
      value: asText(one.value),
    }));
    const { items, paging } = pageOf(
      all.filter((one) => state === 'any' || one.state === state),
      part,
    );
    return { alerts: items, ...paging };
  },
});
