// The edition for stores, against a relay and a plugin that want it to run text: nothing but chrome.userScripts does.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { allowUserScripts } from '../../../e2e/stage/edition.ts';
import { hash, type Plugin, pluginList, type Stage, setStage } from './stage.ts';

const marks = `document.documentElement.dataset.ran = (document.documentElement.dataset.ran ?? '') + 'x';`;

let stage: Stage;
before(async () => {
  stage = await setStage(undefined, { store: true, permissions: ['userScripts'] });
  for (const name of ['iso', 'main'])
    serve(
      `adapters/${name}.js`,
      `${marks}${readFileSync(join(stage.folder, `adapters/${name}.js`), 'utf8')}`,
    );
});
after(() => stage?.close());

const serve = (file: string, code: string) => stage.relay.scripts.set(`/api/v1/extension/${file}`, code);

const waitingPath = '/api/v1/extension/user-scripts';

/** What the relay was told last of plugins that wait for user scripts. */
const lastTold = (): unknown => {
  const of = stage.relay.got.findLast(({ frame }) => frame.path === waitingPath);
  assert.equal(of?.frame.method, 'PUT');
  return JSON.parse(of.payload);
};

const refusalOf = async (tabId: number, tool: string) =>
  JSON.stringify((await stage.call(tabId, tool).outcome).frame.refusal);

test('Chrome warns of access to sites and of native messaging, and no other required permission adds a warning', async () => {
  const manifest = JSON.parse(readFileSync(join(stage.folder, 'manifest.json'), 'utf8'));
  const required: string[] = manifest.permissions;
  const panel = await stage.openPanel();
  const warnings = (permissions: string[], about: object = {}): Promise<string[]> =>
    panel.evaluate(
      (text) => chrome.management.getPermissionWarningsByManifest(text),
      JSON.stringify({ ...manifest, permissions, ...about }),
    );
  const ofSites = 'Read and change all your data on all websites';
  const ofPrograms = 'Communicate with cooperating native applications';
  assert.deepEqual((await warnings(required)).sort(), [ofPrograms, ofSites]);
  assert.deepEqual(
    await warnings(required, { host_permissions: [] }).then((list) => list.includes(ofSites)),
    false,
  );
  for (const name of required) {
    const without = await warnings(required.filter((one) => one !== name));
    assert.equal(without.length, name === 'nativeMessaging' ? 1 : 2, `without ${name}: ${without}`);
  }
  await panel.close();
});

test('its pages and its worker run no text', async () => {
  // In a turn of its own: code that a debugger runs may do what the extension's own may not.
  const attempts = `new Promise((resolve) => setTimeout(async () => {
    const refused = [];
    try { eval('1') } catch { refused.push('eval') }
    try { new Function('1') } catch { refused.push('Function') }
    try { await import('data:text/javascript,1') } catch { refused.push('import') }
    resolve(refused);
  }))`;
  const all = ['eval', 'Function', 'import'];
  assert.deepEqual(await (await stage.worker()).evaluate(attempts), all);
  const panel = await stage.openPanel();
  assert.deepEqual(await panel.evaluate(attempts), all);
  await panel.close();
});

test('until user scripts are on, no code of an added plugin runs, and the refusal says what to do', async () => {
  const { tabId, page } = await stage.open('/off');
  for (const tool of ['iso.echo', 'main.echo'])
    assert.match(await refusalOf(tabId, tool), /INJECTION_FAILED.*Allow User Scripts.*chrome:\/\/extensions/);
  await page.reload();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.ran), undefined);
  const needed = await (await stage.worker()).evaluate(() => chrome.storage.local.get('userScriptsNeeded'));
  assert.deepEqual(needed, { userScriptsNeeded: ['iso', 'main'] });
  assert.deepEqual(lastTold(), { waiting: ['iso', 'main'] });
  await page.close();
});

test('a relay cannot have a file of the package, or one from elsewhere, injected as a plugin', async () => {
  const about = { hash, matches: [`${stage.origin}/*`], excludes: [], world: 'main' };
  const files = [
    'worker.js',
    'user-world.js',
    '../adapters/iso.js',
    '/adapters/iso.js',
    `${stage.origin}/x.js`,
  ];
  const { tabId, page } = await stage.open('/files');
  for (const file of files) {
    const list: Plugin[] = [{ ...about, name: 'other', file }];
    await stage.offer(list);
    assert.match(await refusalOf(tabId, 'other.echo'), /ADAPTER_NOT_READY|Allow User Scripts/, file);
  }
  const scripts = await (await stage.worker()).evaluate(() => chrome.scripting.getRegisteredContentScripts());
  assert.deepEqual(scripts.flatMap(({ js = [] }) => js).sort(), ['bridge.js', 'tap.js']);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.ran), undefined);
  await page.close();
  await stage.offer(pluginList(stage.origin));
});

test('a plugin that calls itself a shipped one gets that one, in its version, or is an added one', async () => {
  const shipped: Record<string, { hash: string; file: string }> = JSON.parse(
    readFileSync(join(stage.folder, 'adapters.json'), 'utf8'),
  );
  const demo = shipped.demo;
  assert.ok(demo);
  const asDemo = { ...pluginList(stage.origin)[0], name: 'demo', file: 'adapters/iso.js', world: 'isolated' };
  const matches = { matches: [`${stage.origin}/*`], excludes: [] };
  const { tabId, page } = await stage.open('/demo');
  await stage.offer([{ ...asDemo, ...matches, hash: demo.hash }]);
  const asked = stage.relay.got.length;
  const own = await stage.call(tabId, 'demo.echo', {}, { hash: demo.hash }).outcome;
  assert.match(JSON.stringify(own.frame.refusal), /no tool|ADAPTER_NOT_READY/); // it has no such tool
  assert.equal(
    stage.relay.got.slice(asked).some(({ frame }) => frame.type === 'request' && frame.method === 'GET'),
    false,
  );
  await stage.offer([{ ...asDemo, ...matches, hash }]);
  assert.match(await refusalOf(tabId, 'demo.echo'), /Allow User Scripts/);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.ran), undefined);
  await page.close();
  await stage.offer(pluginList(stage.origin));
});

test('once they are on, added plugins work in both worlds, and an isolated one is trusted', async () => {
  const before = stage.relay.got.length;
  await allowUserScripts(stage.browser);
  const { tabId, page } = await stage.open('/on');
  const secret = { settings: { token: 't' }, secret: true };
  const isolated = await stage.call(tabId, 'iso.settings', {}, secret).outcome;
  assert.equal(isolated.payload, '{"token":"t"}', JSON.stringify(isolated.frame));
  assert.equal(isolated.frame.trust, undefined);
  assert.equal((await stage.call(tabId, 'main.title').outcome).payload, '{"title":"/on"}');
  for (let told = '', from = before; told !== '{"waiting":[]}'; ) {
    const one = await stage.relay.wait(({ path }) => path === waitingPath, from); // although no panel was open
    told = one.payload;
    from = stage.relay.got.indexOf(one) + 1;
  }
  await page.close();
});

test('an added plugin has no interface of the extension, and its world makes no code of text', async () => {
  const tools = `var tabrelayPlugin = { default: { tools: [
    { name: 'has', handle: () => ({ chrome: typeof chrome, bridge: typeof tabrelayBridge, event: typeof tabrelayAdapterEvent }) },
    { name: 'make', handle: () => ['eval', 'Function'].filter((name) => {
      try { globalThis[name]('1'); return true } catch { return false } }) },
  ] } };`;
  serve(
    'adapters/spy.js',
    `(()=>{${tools}globalThis.tabrelayBridge.register({name:'spy',hash:'${hash}'},tabrelayPlugin.default)})();`,
  );
  const spy = { ...pluginList(stage.origin)[0], name: 'spy', file: 'adapters/spy.js', world: 'isolated' };
  await stage.offer([{ hash, excludes: [], ...spy, matches: [`${stage.origin}/*`] }]);
  const { tabId, page } = await stage.open('/spied');
  assert.deepEqual(JSON.parse((await stage.call(tabId, 'spy.has').outcome).payload), {
    chrome: 'undefined',
    bridge: 'undefined',
    event: 'undefined',
  });
  assert.equal((await stage.call(tabId, 'spy.make').outcome).payload, '[]');
  await page.close();
});
