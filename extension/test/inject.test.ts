import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Bridges } from '../src/worker/documents/bridges.ts';
import { blockedByPolicy, Injector } from '../src/worker/documents/inject.ts';

let injected: number;
let injector: Injector;

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  injected = 0;
  const executeScript = () => {
    injected++;
    return new Promise<never>(() => {});
  };
  Object.defineProperty(globalThis, 'chrome', {
    configurable: true,
    value: { scripting: { executeScript } },
  });
  injector = new Injector(
    new Bridges(
      { loaded: Promise.resolve(), epoch: 'e', recordFrame: async () => {}, hasFrame: () => false },
      { reached: async () => true },
    ),
  );
});

afterEach(() => {
  mock.timers.reset();
  Reflect.deleteProperty(globalThis, 'chrome');
});

test('a page for which Chrome never answers is not waited for, and the next call tries anew', async () => {
  for (const attempt of [1, 2]) {
    const refused = assert.rejects(injector.ensureBridge(1), { code: 'TAB_UNRESPONSIVE' });
    mock.timers.tick(12_000);
    await refused;
    assert.equal(injected, attempt);
  }
});

test('a site that a policy keeps extensions off is told as that', async () => {
  const why = 'This page cannot be scripted due to an ExtensionsSettings policy.';
  chrome.scripting.executeScript = () => Promise.reject(new Error(why));
  await assert.rejects(injector.ensureBridge(1), {
    message: /^The policy of the organization/,
    ending: {
      status: 'threw',
      error: {
        code: 'BROWSER_POLICY',
        category: 'auth',
        message: 'The policy of the organization that manages this browser keeps extensions off the site',
        hint: 'Do not look for a way around it, and do not repeat the call: only an administrator can change it.',
        retryable: false,
        outcome: 'not_executed',
      },
    },
  });
});

test('nothing but what Chromium says then counts as the policy', () => {
  const said = 'This page cannot be scripted due to an ExtensionsSettings policy.';
  assert.equal(blockedByPolicy(new Error(said)), true);
  assert.equal(blockedByPolicy(said), true);
  for (const other of [
    'Cannot access contents of the page. Extension manifest must request permission to access the respective host.',
    'The extensions gallery cannot be scripted.',
    'Cannot access a chrome:// URL',
    'Frame with ID 3 is showing error page',
    'Permissions are blocked by enterprise policy.',
    "The page's settings blocked an inline script because of its Content Security Policy",
    `Uncaught Error: ${said}`,
    undefined,
  ])
    assert.equal(blockedByPolicy(other === undefined ? other : new Error(other)), false, other);
});
