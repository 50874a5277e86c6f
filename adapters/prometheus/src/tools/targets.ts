import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';
import { labels, labelsOutput } from '../samples.ts';

export const targets = defineTool({
  name: 'targets',
  displayName: 'Targets',
  description:
    'What the server scrapes and whether that works: health, last error, last scrape. With health "down" it names what is broken.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      health: {
        type: 'string',
        enum: ['any', 'up', 'down', 'unknown'],
        default: 'any',
        description: 'Only targets in this state.',
      },
      job: { type: 'string', minLength: 1, description: 'Only targets of this job.' },
      ...pagingInput,
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      up: { type: 'integer', description: 'How many of all targets are up.' },
      down: { type: 'integer' },
      targets: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            job: { type: 'string' },
            health: { type: 'string' },
            scrapeUrl: { type: 'string' },
            labels: labelsOutput,
            lastError: { type: 'string', description: 'Empty when the last scrape worked.' },
            lastScrape: { type: 'string' },
            lastScrapeSeconds: { type: 'number' },
          },
          required: ['job', 'health', 'scrapeUrl', 'labels', 'lastError', 'lastScrape', 'lastScrapeSeconds'],
        },
      },
      ...pagingOutput,
    },
    required: ['up', 'down', 'targets', 'total'],
  },
  arrayPath: '.targets',
  async handle({ health, job, ...part }, { signal, maxBytes }) {
    const { data } = await get('targets', { state: 'active' }, signal);
    const all = data.list('activeTargets').map(target);
    const wanted = all.filter(
      (one) => (health === 'any' || one.health === health) && (job === undefined || one.job === job),
    );
    const count = (state: string) => all.filter((one) => one.health === state).length;
    const counts = { up: count('up'), down: count('down') };
    return listPage(wanted, { ...part, maxBytes }, (targets, paging) => ({ ...counts, targets, ...paging }));
  },
});

const target = (from: JsonReader) => ({
  job: from.string('labels', 'job'),
  health: from.string('health'),
  scrapeUrl: from.string('scrapeUrl'),
  labels: labels(from.at('labels')),
  lastError: from.string('lastError'),
  lastScrape: from.string('lastScrape'),
  lastScrapeSeconds: from.number('lastScrapeDuration'),
});
