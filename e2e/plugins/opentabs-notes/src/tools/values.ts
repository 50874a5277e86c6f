import {
  buildQueryString,
  defineTool,
  fetchJSON,
  fetchText,
  getPageGlobal,
  getTextContent,
  LUCIDE_ICON_NAMES,
  log,
  NAME_REGEX,
  parseRateLimitHeader,
  parseRetryAfterMs,
  querySelectorAll,
  RESERVED_NAMES,
  setLocalStorage,
  setSessionStorage,
  stripUndefined,
  validatePluginName,
  validateUrlPattern,
} from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';

/** A tool without arguments that answers what it finds. */
const finding = (name: string, description: string, find: () => unknown) =>
  defineTool({
    name,
    description,
    input: z.object({}),
    output: z.object({ found: z.unknown() }),
    handle: async () => ({ found: await find() }),
  });

const readHeaders = finding('read_headers', 'What the helpers for headers and queries say', () => ({
  seconds: parseRetryAfterMs('2'),
  nonsense: parseRetryAfterMs('soon') ?? null,
  reset: parseRateLimitHeader(new Headers({ 'ratelimit-reset': '3' })),
  none: parseRateLimitHeader(new Headers()) ?? null,
  query: buildQueryString({ a: 1, b: ['x', 'y z'], c: undefined, d: false }),
  kept: stripUndefined({ a: null, b: undefined, c: 0, d: '' }),
}));

const checkNames = finding('check_names', 'What the checks of names and patterns say', () => ({
  names: ['my-site', 'My Site', 'browser'].map((name) => validatePluginName(name) === null),
  matches: NAME_REGEX.test('my-site'),
  reserved: RESERVED_NAMES.has('opentabs'),
  patterns: ['*://*.example.com/*', 'http://localhost/*', '*://*/*', '*://*.com/*', 'example.com'].map(
    (pattern) => validateUrlPattern(pattern) === null,
  ),
  icon: LUCIDE_ICON_NAMES.has('wrench'),
}));

const readEmpty = finding('read_empty', 'What is read of an answer without a body', async () => ({
  json: (await fetchJSON('/api/empty')) === undefined,
  text: await fetchText('/api/empty'),
}));

const readOddly = finding('read_oddly', 'What selectors and paths find that are none', () => ({
  elements: querySelectorAll('li[').length,
  text: getTextContent('li['),
  lines: getTextContent('pre'),
  global: getPageGlobal('app.__proto__.toString') ?? null,
  missing: getPageGlobal('app.nowhere.user') ?? null,
}));

const fillStorage = finding('fill_storage', 'Writes more than storage takes, which is no failure', () => {
  const much = 'x'.repeat(6 * 1024 * 1024);
  setLocalStorage('much', much);
  setSessionStorage('much', much);
  return localStorage.getItem('much');
});

const writeLog = finding('write_log', 'Writes lines of each level', () => {
  const around: Record<string, unknown> = { name: 'loop' };
  around.self = around;
  log.debug('no value');
  log.info('two values', 1, { two: 2 });
  log.warn('an error', new RangeError('too far'));
  log.error('a loop', around);
  return 4;
});

export const valueTools = [readHeaders, checkNames, readEmpty, readOddly, fillStorage, writeLog];
