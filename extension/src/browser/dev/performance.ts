// How fast the page was, by what the browser has measured since it began.
import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { redact } from './redact.ts';

const observeMs = 100; // for what is buffered to be told

/** All entries of a kind since the document began. */
function entries(type: string, more: Record<string, unknown> = {}): Promise<PerformanceEntry[]> {
  return new Promise((resolve) => {
    if (!PerformanceObserver.supportedEntryTypes.includes(type)) return resolve([]);
    const all: PerformanceEntry[] = [];
    const observer = new PerformanceObserver((list) => all.push(...list.getEntries()));
    observer.observe({ type, buffered: true, ...more });
    setTimeout(() => {
      all.push(...observer.takeRecords());
      observer.disconnect();
      resolve(all);
    }, observeMs);
  });
}

const number = (entry: PerformanceEntry, name: string): number => {
  const value: unknown = Reflect.get(entry, name);
  return typeof value === 'number' ? value : 0;
};

const round = (value: number): number => Math.round(value * 10) / 10;

// Shifts within a second of each other, and five seconds in all, count together; the worst of these is the score.
function layoutShift(all: readonly PerformanceEntry[]): number {
  let worst = 0;
  let sum = 0;
  let first = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (const entry of all) {
    if (Reflect.get(entry, 'hadRecentInput') === true) continue;
    if (entry.startTime - last >= 1000 || entry.startTime - first >= 5000) {
      sum = 0;
      first = entry.startTime;
    }
    last = entry.startTime;
    sum += number(entry, 'value');
    worst = Math.max(worst, sum);
  }
  return Math.round(worst * 1000) / 1000;
}

function navigationTimes(): Record<string, unknown> {
  const [entry] = performance.getEntriesByType('navigation');
  if (!(entry instanceof PerformanceNavigationTiming)) return {};
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return {
    type: entry.type,
    ...(entry.responseStatus > 0 && { status: entry.responseStatus }),
    ms: {
      dns: round(entry.domainLookupEnd - entry.domainLookupStart),
      connect: round(entry.connectEnd - entry.connectStart),
      firstByte: round(entry.responseStart),
      response: round(entry.responseEnd - entry.responseStart),
      domInteractive: round(entry.domInteractive),
      domContentLoaded: round(entry.domContentLoadedEventEnd),
      load: round(entry.loadEventEnd),
      ...(paint !== undefined && { firstContentfulPaint: round(paint.startTime) }),
    },
    bytes: { transferred: entry.transferSize, decoded: entry.decodedBodySize },
  };
}

function resources(limit: number): Record<string, unknown> {
  const all = performance
    .getEntriesByType('resource')
    .filter((entry): entry is PerformanceResourceTiming => entry instanceof PerformanceResourceTiming);
  const size = (entry: PerformanceResourceTiming) => Math.max(entry.transferSize, entry.encodedBodySize);
  const largest = all.toSorted((a, b) => size(b) - size(a)).slice(0, limit);
  return {
    count: all.length,
    transferred: all.reduce((sum, entry) => sum + entry.transferSize, 0),
    largest: largest.map((entry) => ({
      url: redact(entry.name.slice(0, 500)),
      type: entry.initiatorType,
      bytes: size(entry),
      ms: round(entry.duration),
      ...(entry.transferSize === 0 && entry.encodedBodySize > 0 && { cached: true }),
    })),
  };
}

export const performanceTool = defineTool({
  name: 'performance',
  displayName: 'Measure the page',
  description:
    'What the browser has measured of the page: navigation times, LCP, CLS, INP, long tasks, its largest resources.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    limit: s.optional(s.integer('Resources. Default 10.', { minimum: 0, maximum: 250 })),
    frame: s.optional(s.string('Reference of the frame, or any in it, such as f1e1.')),
  }),
  async handle({ limit = 10 }) {
    const [paints, shifts, events, tasks] = await Promise.all([
      entries('largest-contentful-paint'),
      entries('layout-shift'),
      entries('event', { durationThreshold: 16 }),
      entries('longtask'),
    ]);
    const painted = paints.at(-1);
    const interactions = events
      .filter((entry) => number(entry, 'interactionId') > 0)
      .map(({ duration }) => duration)
      .toSorted((a, b) => b - a);
    const worst = interactions[Math.min(interactions.length - 1, Math.floor(interactions.length / 50))];
    return {
      url: redact(location.href),
      navigation: navigationTimes(),
      ...(painted !== undefined && { lcp: { ms: round(painted.startTime), bytes: number(painted, 'size') } }),
      cls: layoutShift(shifts),
      ...(worst !== undefined && { inp: { ms: round(worst), interactions: interactions.length } }),
      longTasks: {
        count: tasks.length,
        ms: round(tasks.reduce((sum, { duration }) => sum + duration, 0)),
        longest: round(Math.max(0, ...tasks.map(({ duration }) => duration))),
      },
      resources: resources(limit),
      ...(document.visibilityState === 'hidden' && {
        note: 'The tab is in the background: nothing is painted there.',
      }),
    };
  },
});
