import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
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
  async handle({ state, ...part }, { signal, maxBytes }) {
    const { data } = await get('alerts', {}, signal);
    const all = data.list('alerts').map(alert);
    const wanted = all.filter((one) => state === 'any' || one.state === state);
    return listPage(wanted, { ...part, maxBytes }, (alerts, paging) => ({ alerts, ...paging }));
  },
});

const alert = (from: JsonReader) => ({
  name: from.string('labels', 'alertname'),
  state: from.string('state'),
  labels: labels(from.at('labels')),
  annotations: labels(from.at('annotations')),
  activeAt: from.string('activeAt'),
  value: from.string('value'),
});
