import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { labels, labelsOutput } from '../samples.ts';

export const alerts = defineTool({
  name: 'alerts',
  displayName: 'Alerts',
  description:
    'Alerts that fire now or are pending, with their labels, annotations, value and since when.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    state: s.choice(['any', 'firing', 'pending'], 'Only alerts in this state.', { default: 'any' }),
    ...pagingInput,
  }),
  output: s.object({
    alerts: s.array(
      s.object({
        name: s.string(),
        state: s.string(),
        labels: labelsOutput,
        annotations: labelsOutput,
        activeAt: s.string(),
        value: s.string(),
      }),
    ),
    ...pagingOutput,
  }),
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
