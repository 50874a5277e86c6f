import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import * as compat from '../src/compat/index.ts';
import * as preScript from '../src/compat/pre-script.ts';
import { enter } from '../src/scope.ts';

// The functions that plugins for that SDK are written with.
const functions = `defineTool
  waitForSelector waitForSelectorRemoval querySelectorAll getTextContent getMetaContent observeDOM
  fetchFromPage fetchJSON fetchJSONImpl fetchText postJSON putJSON patchJSON deleteJSON postForm postFormData
  httpStatusToToolError parseRetryAfterMs parseRateLimitHeader buildQueryString stripUndefined
  getLocalStorage setLocalStorage removeLocalStorage getSessionStorage setSessionStorage removeSessionStorage
  getCookie findLocalStorageEntry getAuthCache setAuthCache clearAuthCache
  getPageGlobal getCurrentUrl getPageTitle retry sleep waitUntil getConfig notifyReadinessChanged getPreScriptValue
  validatePluginName validateUrlPattern ToolError OpenTabsPlugin`;

test('every name is there', () => {
  for (const name of functions.split(/\s+/)) {
    assert.equal(typeof Object.entries(compat).find(([key]) => key === name)?.[1], 'function', name);
  }
  for (const level of ['debug', 'info', 'warn', 'error'] as const)
    assert.equal(typeof compat.log[level], 'function');
  assert.ok(compat.NAME_REGEX.test('my-site') && compat.RESERVED_NAMES.has('browser'));
  assert.ok(compat.LUCIDE_ICON_NAMES.has('wrench'));
  assert.equal(typeof preScript.definePreScript, 'function');
});

test('nothing is null where it was null there', () => {
  Reflect.set(globalThis, 'document', { cookie: 'a=1', querySelector: () => null });
  Reflect.set(globalThis, 'window', { localStorage: { length: 0 } });
  Reflect.set(globalThis, 'CSS', { escape: String });
  try {
    assert.equal(compat.getCookie('b'), null);
    assert.equal(compat.getTextContent('h1'), null);
    assert.equal(compat.getMetaContent('x'), null);
    assert.equal(compat.getAuthCache('x'), null);
    assert.equal(
      compat.findLocalStorageEntry(() => true),
      null,
    );
  } finally {
    for (const name of ['document', 'window', 'CSS']) Reflect.deleteProperty(globalThis, name);
  }
});

test('a condition that throws does not hold yet, and whatever fails is tried again', async () => {
  let asked = 0;
  await compat.waitUntil(
    () => {
      asked++;
      if (asked < 3) throw new Error('not yet');
      return true;
    },
    { interval: 1 },
  );
  let tries = 0;
  const failing = async () => {
    tries++;
    throw compat.ToolError.notFound('not there');
  };
  await assert.rejects(compat.retry(failing, { delay: 1 }), { code: 'NOT_FOUND' });
  await assert.rejects(compat.retry(failing, { maxAttempts: Number.NaN }), /NaN/);
  assert.deepEqual([asked, tries], [3, 3]);
});

test('the log takes any number of values', () => {
  const lines: unknown[] = [];
  const write = (...line: unknown[]) => void lines.push(line);
  const log = { debug: write, info: write, warn: write, error: write };
  const network = undefined;
  enter({ settings: {}, preScript: undefined, log, network, readinessChanged: () => {} });
  compat.log.info('none');
  compat.log.warn('one', 1);
  compat.log.error('two', 1, 2);
  assert.deepEqual(lines, [
    ['none', undefined],
    ['one', 1],
    ['two', [1, 2]],
  ]);
});

test('names and patterns are checked', () => {
  assert.equal(compat.validatePluginName('my-site'), null);
  assert.match(compat.validatePluginName('My Site') ?? '', /a-z/);
  assert.match(compat.validatePluginName('browser') ?? '', /reserved/);
  assert.equal(compat.validateUrlPattern('*://*.example.com/*'), null);
  for (const bad of ['*://*/*', '*://*.com/*', 'example.com', 'ftp://a.example/*']) {
    assert.notEqual(compat.validateUrlPattern(bad), null, bad);
  }
});

test('an error of a status is there at once', () => {
  const error = compat.httpStatusToToolError(new Response('', { status: 404 }), 'no such note');
  assert.ok(error instanceof compat.ToolError);
  assert.deepEqual([error.code, error.message], ['NOT_FOUND', 'no such note']);
});

// Types only: a class as plugins write it.
class Notes extends compat.OpenTabsPlugin {
  readonly name = 'notes';
  readonly displayName = 'Notes';
  readonly description = 'A notebook.';
  readonly urlPatterns = ['https://notes.example/*'];
  override readonly homepage = 'https://notes.example/';
  override readonly configSchema: compat.ConfigSchema = { limit: { type: 'number', label: 'Limit' } };
  readonly tools = [
    compat.defineTool({
      name: 'read',
      description: 'Reads.',
      input: z.object({ id: z.string() }),
      output: z.object({ text: z.string() }),
      handle: async ({ id }, context) => {
        context.reportProgress({ message: id });
        return { text: id };
      },
    }),
  ];
  async isReady(): Promise<boolean> {
    return true;
  }
}

test('a class is a plugin', async () => {
  const plugin = new Notes();
  assert.equal(plugin.tools.length, 1);
  assert.equal(await plugin.isReady(), true);
});

test('a plugin of that SDK has types', () => {
  const echo = compat.defineTool({
    name: 'echo',
    displayName: 'Echo',
    description: 'Says the same.',
    input: z.object({ text: z.string() }),
    output: z.object({ said: z.string() }),
    handle: async ({ text }) => ({ said: text }),
  });
  const tools: compat.ToolDefinition[] = [echo];
  const type: compat.ConfigSettingType = 'select';
  const manifest: compat.Manifest = { tools: [] };
  assert.deepEqual([tools.length, type, manifest.tools.length], [1, 'select', 0]);
});
