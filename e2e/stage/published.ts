// Makes of a test plugin the tarball that a published package for OpenTabs is: package.json, dist/tools.json,
// dist/adapter.iife.js and dist/pre-script.iife.js, without sources. The builder of that project is not here; what its
// files have in common with these is how they meet their runtime: at `globalThis.__openTabs`, and nowhere else.

import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { Closing } from './closing.ts';
import { repository, temporaryFolder } from './paths.ts';
import { testPlugin } from './plugin.ts';
import { run } from './process.ts';
import type { Relay } from './relay.ts';

const sdk = path.join(repository, 'plugin-sdk/src');

/** The functions of the SDK that reach the runtime, as they do it there. */
const runtime = `
const shared = () => globalThis.__openTabs;
let transport = (entry) => console.info(entry.message, ...entry.data);
(globalThis.__openTabs ??= {})._setLogTransport = (next) => {
  const before = transport;
  transport = next;
  return () => { transport = before; };
};
const plain = (value) => value instanceof Error ? { name: value.name, message: value.message } : value;
const line = (level) => (message, ...data) =>
  transport({ level, message, data: data.map(plain), ts: new Date().toISOString() });
export const log = { debug: line('debug'), info: line('info'), warn: line('warning'), error: line('error') };
export const getConfig = (key) => shared()?.pluginConfig?.[key];
export const getPreScriptValue = (key) => shared()?.preScript?.[shared()?._pluginName]?.[key];
export const notifyReadinessChanged = () => shared()?._notifyReadinessChanged?.();
export const currentScope = () => undefined;
export const enter = () => undefined;
`;

/** Around the plugin: it registers the adapter, calls its hooks, and cannot be changed afterwards. */
const adapterEntry = (name: string) => `
import plugin from './src/index.ts';
const ot = globalThis.__openTabs;
ot.adapters ??= {};
const setTransport = globalThis.__openTabs._setLogTransport;
const restore = setTransport?.((entry) => window.postMessage({ type: 'opentabs:plugin-logs', entries: [entry] }, '*'));
ot._notifyReadinessChanged = () => window.postMessage({ type: 'opentabs:readiness-changed' }, '*');
const told = (hook, ...given) => {
  try {
    plugin[hook]?.(...given);
  } catch (error) {
    console.error(hook, error);
  }
};
for (const tool of plugin.tools) {
  const handle = tool.handle;
  tool.handle = async (...given) => {
    globalThis.__openTabs._pluginName = ${JSON.stringify(name)};
    const began = performance.now();
    told('onToolInvocationStart', tool.name);
    let success = false;
    try {
      const answer = await handle.apply(tool, given);
      success = true;
      return answer;
    } finally {
      told('onToolInvocationEnd', tool.name, success, performance.now() - began);
    }
  };
}
ot.adapters[${JSON.stringify(name)}] = plugin;
told('onActivate');
let address = location.href;
const moved = () => {
  if (location.href === address) return;
  address = location.href;
  told('onNavigate', address);
};
for (const event of ['popstate', 'hashchange']) window.addEventListener(event, moved);
for (const change of ['pushState', 'replaceState']) {
  const original = history[change].bind(history);
  history[change] = (...given) => {
    original(...given);
    moved();
  };
}
const { onDeactivate, teardown } = plugin;
plugin.teardown = () => {
  onDeactivate?.call(plugin);
  restore?.();
  teardown?.call(plugin);
};
`;

const freeze = (name: string) =>
  `(function(){var o=(globalThis).__openTabs,a=o.adapters[${JSON.stringify(name)}];a.__adapterHash="0";` +
  'a.tools.forEach(Object.freeze);Object.freeze(a.tools);Object.freeze(a);' +
  'Object.defineProperty(o,"adapters",{value:o.adapters,writable:false,configurable:false});})();';

const preScriptEntry = (name: string) => `
const ot = (globalThis.__openTabs ??= {});
ot.preScript ??= {};
const kept = (ot.preScript[${JSON.stringify(name)}] ??= {});
ot._preScriptRunner = (start) => start({ set: (key, value) => { kept[key] = value; }, log: console });
`;

/** Packs e2e/plugins/<name> for the pages of one origin as its author would publish it, and returns the tarball. */
export async function publishedForOpenTabs(
  name: string,
  origin: string,
  relay: Relay,
  closing: Closing,
): Promise<string> {
  const folder = await testPlugin(name, origin, closing);
  await cp(path.join(repository, 'node_modules/zod'), path.join(folder, 'node_modules/zod'), {
    recursive: true,
  });
  // Its schemas, without what that builder does not know.
  await relay.tabrelay('plugin', 'build', folder, '--out', path.join(folder, 'ours'));
  const ours: { tools: Record<string, unknown>[]; configSchema: unknown } = JSON.parse(
    await readFile(path.join(folder, 'ours/manifest.json'), 'utf8'),
  );
  const tools = ours.tools.map(({ name, displayName, description, inputSchema, outputSchema }) => ({
    name,
    displayName,
    description,
    icon: 'wrench',
    input_schema: inputSchema,
    output_schema: outputSchema,
  }));
  const published = path.join(await temporaryFolder('published', closing), 'package');
  await mkdir(path.join(published, 'dist'), { recursive: true });
  const manifest = { sdkVersion: '0.0.115', configSchema: ours.configSchema, tools };
  await writeFile(path.join(published, 'dist/tools.json'), JSON.stringify(manifest, null, 2));
  const about = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  await writeFile(
    path.join(published, 'package.json'),
    JSON.stringify({ ...about, private: undefined, files: ['dist'] }, null, 2),
  );
  const bundle = async (entry: string, file: string) => {
    const result = await build({
      stdin: { contents: entry, resolveDir: folder, loader: 'ts' },
      bundle: true,
      format: 'iife',
      platform: 'browser',
      write: false,
      logLevel: 'silent',
      plugins: [publishedSdk],
    });
    const code = `${result.outputFiles[0]?.text ?? ''}${file === 'adapter' ? freeze(name) : ''}`;
    return `${code}\n//# sourceMappingURL=${file}.iife.js.map\n`;
  };
  await writeFile(path.join(published, 'dist/adapter.iife.js'), await bundle(adapterEntry(name), 'adapter'));
  const preScript = `${preScriptEntry(name)}\nrequire('./src/pre-script.ts'); // after the lines before it\n`;
  await writeFile(path.join(published, 'dist/pre-script.iife.js'), await bundle(preScript, 'pre-script'));
  const tarball = path.join(path.dirname(published), `opentabs-plugin-${name}-1.2.0.tgz`);
  await run('tar', ['czf', tarball, '-C', path.dirname(published), 'package']);
  await rm(published, { recursive: true });
  return tarball;
}

/** Resolves that SDK to ours, with the runtime's functions as they are there. */
const publishedSdk: Plugin = {
  name: 'published-sdk',
  setup(setup) {
    setup.onResolve({ filter: /^@opentabs-dev\/plugin-sdk(\/pre-script)?$/ }, ({ path: wanted }) =>
      wanted.endsWith('/pre-script')
        ? { path: 'pre-script', namespace: 'published' }
        : { path: path.join(sdk, 'compat/index.ts') },
    );
    setup.onResolve({ filter: /\/scope\.ts$/ }, () => ({ path: 'scope', namespace: 'published' }));
    setup.onLoad({ filter: /^scope$/, namespace: 'published' }, () => ({ contents: runtime }));
    setup.onLoad({ filter: /^pre-script$/, namespace: 'published' }, () => ({
      contents: 'export const definePreScript = (start) => globalThis.__openTabs?._preScriptRunner?.(start);',
    }));
  },
};
