import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import type { PluginInfo } from '../src/protocol/frames.generated.ts';
import { Plugins, wantedScripts } from '../src/worker/documents/plugins.ts';

type Script = chrome.scripting.RegisteredContentScript;

let registered: Script[];
let log: string[];

// Chrome's registry of content scripts, as far as the worker uses it.
const scripting = {
  getRegisteredContentScripts: async () => registered,
  unregisterContentScripts: async () => {
    log.push('unregister');
    registered = [];
  },
  registerContentScripts: async (scripts: Script[]) => {
    if (scripts.some((script) => script.js?.includes('adapters/missing.js')))
      throw new Error('Could not load file');
    log.push(`register ${scripts.map((script) => script.id).join()}`);
    registered = registered.concat(scripts.map((script) => ({ matchOriginAsFallback: false, ...script })));
  },
};
Reflect.set(globalThis, 'chrome', { scripting });

const plugin = (name: string, more: Partial<PluginInfo> = {}): PluginInfo => ({
  name,
  hash: 'a'.repeat(64),
  world: 'isolated',
  matches: [`https://${name}.example/*`],
  excludes: [],
  file: `adapters/${name}.js`,
  ...more,
});

beforeEach(() => {
  registered = [];
  log = [];
});

test('the bridge serves all plugins; only main-world adapters and pre-scripts run at document_start', () => {
  const scripts = wantedScripts([
    plugin('one'),
    plugin('two', { world: 'main', preScript: 'adapters/two-pre.js', excludes: ['https://two.example/x'] }),
    plugin('three', { preScript: 'adapters/three-pre.js', frames: 'all' }),
  ]);
  assert.deepEqual(
    scripts.map(({ id, js, world, allFrames }) => [id, js, world, allFrames]),
    [
      ['bridge', ['bridge.js'], 'ISOLATED', true],
      ['console', ['tap.js'], 'MAIN', true],
      ['plugin:two', ['adapters/two-pre.js', 'adapters/two.js'], 'MAIN', false],
      ['plugin:three', ['adapters/three-pre.js'], 'MAIN', true],
    ],
  );
  assert.deepEqual(scripts[0]?.matches, [
    'https://one.example/*',
    'https://three.example/*',
    'https://two.example/*',
  ]);
  assert.ok(scripts.every((script) => script.runAt === 'document_start'));
});

test('the same list again changes nothing', async () => {
  const plugins = new Plugins((message) => log.push(message));
  await plugins.replace([plugin('one', { world: 'main' })]);
  await plugins.replace([plugin('one', { world: 'main' })]);
  assert.deepEqual(log, ['register bridge,console,plugin:one']);
  await plugins.replace([plugin('one', { world: 'main', file: 'adapters/one-new.js' })]);
  assert.equal(log.at(-2), 'unregister');
  await plugins.replace([]);
  assert.deepEqual(registered, []);
  assert.equal(plugins.get('one'), undefined);
});

test('a plugin that Chrome does not take is named, and the others work', async () => {
  const problems: string[] = [];
  const plugins = new Plugins((message) => problems.push(message));
  await plugins.replace([
    plugin('good', { world: 'main' }),
    plugin('bad', { world: 'main', file: 'adapters/missing.js' }),
    plugin('fine'),
  ]);
  assert.match(problems.join('\n'), /Plugin bad cannot be registered: .*Could not load file/);
  assert.deepEqual(
    registered.map((script) => script.id),
    ['bridge', 'console', 'plugin:good'],
  );
  assert.deepEqual(registered[0]?.matches, ['https://fine.example/*', 'https://good.example/*']);
});

test('a pattern of any scheme with a port becomes two: Chrome takes none such', () => {
  const [bridge, , own] = wantedScripts([
    plugin('one', {
      world: 'main',
      matches: ['*://one.example:8443/*', '*://*.one.example/*'],
      excludes: ['*://one.example:8443/x'],
    }),
  ]);
  const matches = ['http://one.example:8443/*', 'https://one.example:8443/*', '*://*.one.example/*'];
  assert.deepEqual(bridge?.matches, matches.toSorted());
  assert.deepEqual(own?.matches, matches);
  assert.deepEqual(own?.excludeMatches, ['http://one.example:8443/x', 'https://one.example:8443/x']);
});

test('a plugin for every site leaves pages alone until it is called, but where a person names sites', () => {
  assert.deepEqual(wantedScripts([plugin('every', { matches: ['*://*/*', 'https://*:8443/*'] })]), []);
  const more = { matches: ['*://*/*', 'https://wiki.example/*'] };
  const [bridge] = wantedScripts([plugin('every', more), plugin('one')]);
  assert.deepEqual(bridge?.matches, ['https://one.example/*', 'https://wiki.example/*']);
  const [early] = wantedScripts([plugin('every', { ...more, world: 'main' })]);
  assert.deepEqual(early?.matches, ['*://*/*', 'https://wiki.example/*']);
});

test('the version before the current one is still known, and the one to come is waited for', async () => {
  const plugins = new Plugins(() => assert.fail());
  const [one, two, three] = ['1', '2', '3'].map((digit) => plugin('tea', { hash: digit.repeat(64) }));
  assert.ok(one && two && three);
  await plugins.replace([one]);
  const coming = plugins.awaitVersion('tea', two.hash);
  await plugins.replace([one]); // not this one
  await plugins.replace([two]);
  assert.equal(await coming, two);
  assert.equal(plugins.version('tea', one.hash), one);
  await plugins.replace([three]);
  assert.equal(plugins.version('tea', one.hash), undefined);
  assert.equal(plugins.version('tea', two.hash), two);
  await plugins.replace([]);
  assert.equal(plugins.version('tea', two.hash), undefined);
  mock.timers.enable({ apis: ['setTimeout'] });
  const never = plugins.awaitVersion('tea', one.hash);
  mock.timers.tick(1000);
  mock.timers.reset();
  await plugins.replace([two]);
  assert.equal(await never, undefined);
});
