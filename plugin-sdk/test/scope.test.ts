import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import * as sdk from '../src/index.ts';
import { definePreScript } from '../src/pre-script.ts';
import { enter, type Scope } from '../src/scope.ts';

const bare: Scope = {
  settings: {},
  preScript: undefined,
  log: undefined,
  network: undefined,
  readinessChanged: () => {},
};

afterEach(() => enter(bare));

test('settings, pre-script values and the log are those that were lent last', () => {
  const lines: unknown[] = [];
  const line = (level: string) => (message: string, data?: unknown) => lines.push([level, message, data]);
  let changed = 0;
  enter({
    settings: { limit: 7 },
    preScript: { get: (key) => (key === 'token' ? 't' : undefined) },
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    network: undefined,
    readinessChanged: () => changed++,
  });
  assert.equal(sdk.getConfig('limit'), 7);
  assert.equal(sdk.getConfig('toString'), undefined);
  assert.equal(sdk.getPreScriptValue('token'), 't');
  sdk.notifyReadinessChanged();
  assert.equal(changed, 1);
  sdk.log.warn('careful', { n: 1 });
  assert.deepEqual(lines, [['warn', 'careful', { n: 1 }]]);
  enter(bare);
  assert.equal(sdk.getConfig('limit'), undefined);
  assert.equal(sdk.getPreScriptValue('token'), undefined);
});

test('a pre-script does nothing outside of the page', () => {
  definePreScript(() => assert.fail('it ran'));
});

test('signing in is waited for, and its absence says where to go', async () => {
  Reflect.set(globalThis, 'location', { href: 'https://tea.example/cups' });
  let asked = 0;
  await sdk.requireSignIn({ isSignedIn: () => ++asked === 3, loginUrl: '/login' });
  assert.equal(asked, 3);
  await assert.rejects(
    sdk.requireSignIn({ isSignedIn: async () => false, loginUrl: () => '/login?next=x', waitMs: 10 }),
    {
      code: 'AUTH_ERROR',
      category: 'auth',
      outcome: 'not_executed',
      retryable: false,
      message:
        'Nobody is signed in. Ask the person to sign in at https://tea.example/login?next=x, then call again.',
    },
  );
  const stop = AbortSignal.abort(new Error('cancelled'));
  await assert.rejects(sdk.requireSignIn({ isSignedIn: () => false, loginUrl: '/' }, stop), /cancelled/);
  Reflect.deleteProperty(globalThis, 'location');
});
