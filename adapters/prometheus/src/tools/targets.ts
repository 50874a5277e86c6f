import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { labels, labelsOutput } from '../samples.ts';

export const targets = defineTool({
  name: 'targets',
  displayName: 'Targets',
  description:
    'What the server scrapes and whether that works: health, last error, last scrape. With ' +
    'health "down" it names what is broken.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    health: s.choice(['any', 'up', 'down', 'unknown'], 'Only targets in this state.', {
      default: 'any',
    }),
    job: s.optional(s.string('Only targets of this job.', { minLength: 1 })),
    ...pagingInput,
  }),
  output: s.object({
    up: s.integer('How many of all targets are up.'),
    down: s.integer(),
    targets: s.array(
      s.object({
        job: s.string(),
        health: s.string(),
        scrapeUrl: s.string(),
        labels: labelsOutput,
        lastError: s.string('Empty when the last scrape worked.'),
        lastScrape: s.string(),
        lastScrapeSeconds: s.number(),
      }),
    ),
    ...pagingOutput,
  }),
  arrayPath: '.targets',
  async handle({ health, job, ...part }, { signal, maxBytes }) {
    const { data } = await get('targets', { state: 'active' }, signal);
    const all = data.list('activeTargets').map(target);
    const wanted = all.filter(
      (one) =>
        (health === 'any' || one.health === health) && (job === undefined || one.job === job),
    );
    const count = (state: string) => all.filter((one) => one.health === state).length;
    const counts = { up: count('up'), down: count('down') };
    return listPage(wanted, { ...part, maxBytes }, (targets, paging) => ({
      ...counts,
      targets,
      ...paging,
    }));
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
