// A real Chromium with the built extension, a test relay and a small site. One stage per test file.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page, type Worker } from 'playwright-core';
import { browserFlags } from '../../../e2e/stage/flags.ts';
import { until } from './patience.ts';
import { type Frame, TestRelay } from './relay.ts';

export const hash = 'a'.repeat(64);
const here = import.meta.dirname;
const dist = join(here, '../../dist');
const extensionId =
  /const ID = "([a-p]{32})"/.exec(readFileSync(join(here, '../../embed.go'), 'utf8'))?.[1] ?? '';

export type Site = (request: IncomingMessage, response: ServerResponse) => void;

export interface Stage {
  relay: TestRelay;
  browser: BrowserContext;
  origin: string;
  hits: Map<string, number>; // requests the site got, by path
  /** Answers the requests for paths below /held that the site has got: until then a tool waits for one. */
  release(): void;
  folder: string;
  open(path: string): Promise<{ page: Page; tabId: number }>;
  openPanel(file?: string): Promise<Page>;
  worker(): Promise<Worker>;
  call(tabId: number, tool: string, args?: object, extra?: object): Call;
  /** Gives the extension a list of plugins, and waits until Chrome puts their scripts into pages. */
  offer(plugins: readonly Plugin[]): Promise<void>;
  stopWorker(): Promise<void>;
  /** Takes the alarm away that wakes a worker in the end. */
  clearAlarms(): Promise<void>;
  close(): Promise<void>;
}

export interface Call {
  id: string;
  started: Promise<{ frame: Frame }>;
  outcome: Promise<{ frame: Frame; payload: string; ms: number }>;
}

function writeAdapters(folder: string): void {
  mkdirSync(join(folder, 'adapters'), { recursive: true });
  const tools = readFileSync(join(here, 'adapter.js'), 'utf8');
  const runtime = readFileSync(join(folder, 'page-main.js'), 'utf8');
  const isolated = `(()=>{${tools};globalThis.tabrelayBridge.register({name:'iso',hash:'${hash}'},tabrelayPlugin.default)})();`;
  const main = `(()=>{${runtime};${tools};tabrelayRuntime.start({name:'main',hash:'${hash}'},tabrelayPlugin.default)})();`;
  writeFileSync(join(folder, 'adapters/iso.js'), isolated);
  writeFileSync(join(folder, 'adapters/main.js'), main);
}

// As make extension-store does, with the id that the relay knows.
function buildStore(folder: string): void {
  const extension = join(here, '../..');
  execFileSync('go', ['run', './bundle', '-store', folder], { cwd: extension });
  const pack = ['run', './packaging/store', '-folder', folder, `${folder}.zip`];
  execFileSync('go', pack, { cwd: join(extension, '..') });
  rmSync(`${folder}.zip`);
  const { key } = JSON.parse(readFileSync(join(extension, 'manifest.json'), 'utf8'));
  const file = join(folder, 'manifest.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), key }));
}

// Chrome asks the person for an optional permission in a window of its own, which no test can answer.
function giveAway(folder: string, permissions: string[]): void {
  if (permissions.length === 0) return;
  const file = join(folder, 'manifest.json');
  const manifest: { permissions: string[] } = JSON.parse(readFileSync(file, 'utf8'));
  manifest.permissions.push(...permissions);
  writeFileSync(file, JSON.stringify(manifest));
}

export interface Plugin {
  name: string;
  hash: string;
  world: string;
  file: string;
  matches: string[];
  excludes: string[];
  frames?: string;
}

export function pluginList(origin: string): Plugin[] {
  const about = { hash, matches: [`${origin}/*`], excludes: [`${origin}/excluded/*`] };
  return [
    { ...about, name: 'iso', world: 'isolated', file: 'adapters/iso.js' },
    { ...about, name: 'main', world: 'main', file: 'adapters/main.js' },
  ];
}

const plainPage: Site = (request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end(`<!doctype html><title>${request.url}</title><p>plain`);
};

/** What a stage has that others have not. */
export interface Props {
  permissions?: string[]; // optional ones that the person has given
  protocol?: number; // that the relay speaks
  packed?: boolean; // the extension has no pairing.json
  store?: boolean; // it is the edition for stores
}

export async function setStage(site: Site = plainPage, props: Props = {}): Promise<Stage> {
  const hits = new Map<string, number>();
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    hits.set(path, (hits.get(path) ?? 0) + 1);
    if (path.startsWith('/hit')) return response.end('counted');
    if (path.startsWith('/held')) return void held.push(response);
    site(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;

  const relay = new TestRelay(extensionId);
  relay.protocol = props.protocol ?? relay.protocol;
  await relay.listen();
  relay.plugins = pluginList(origin);
  const folder = mkdtempSync(join(tmpdir(), 'tabrelay-extension-'));
  if (props.store) buildStore(folder);
  else cpSync(dist, folder, { recursive: true });
  writeAdapters(folder);
  giveAway(folder, props.permissions ?? []);
  if (!props.packed) writeFileSync(join(folder, 'pairing.json'), relay.pairing);

  // Without developer mode Chrome disables an unpacked extension when it reloads itself.
  const profile = mkdtempSync(join(tmpdir(), 'tabrelay-profile-'));
  mkdirSync(join(profile, 'Default'));
  writeFileSync(join(profile, 'Default/Preferences'), '{"extensions":{"ui":{"developer_mode":true}}}');
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    ignoreDefaultArgs: true,
    args: browserFlags(profile, folder),
  });
  const worker = async () => browser.serviceWorkers()[0] ?? (await browser.waitForEvent('serviceworker'));
  const registered = async (plugins: readonly Plugin[]) => {
    const matches = Array.from(new Set(plugins.flatMap((plugin) => plugin.matches))).sort();
    const files = plugins.filter(({ world }) => world === 'main' && !props.store);
    const names = files.map(({ name }) => `plugin:${name}`);
    const wanted = JSON.stringify([matches, names]);
    const scripts = async () =>
      (await worker()).evaluate(() => chrome.scripting.getRegisteredContentScripts());
    await until(async () => {
      const there = await scripts();
      const bridge = there.find(({ id }) => id === 'bridge')?.matches ?? [];
      const ids = there.map(({ id }) => id).filter((id) => id.startsWith('plugin:'));
      return JSON.stringify([bridge.toSorted(), ids]) === wanted;
    }, 'Chrome was not given the scripts of the plugins');
  };
  if (!props.packed) {
    await relay.wait((frame) => frame.type === 'tabs', 0);
    await registered(pluginList(origin));
  }

  return {
    relay,
    browser,
    origin,
    hits,
    release() {
      for (const response of held.splice(0)) response.end('counted');
    },
    folder,
    async open(path) {
      const from = relay.got.length;
      const url = `${origin}${path}`;
      const page = await browser.newPage();
      await page.goto(url);
      const { frame } = await relay.wait(
        ({ type, tab }) => type === 'tab' && isTab(tab) && tab.url === url && tab.status === 'complete',
        from,
      );
      return { page, tabId: isTab(frame.tab) ? frame.tab.id : 0 };
    },
    async openPanel(file = 'panel.html') {
      const page = await browser.newPage();
      await page.goto(`chrome-extension://${extensionId}/${file}`);
      return page;
    },
    worker,
    async offer(plugins) {
      relay.plugins = plugins;
      relay.send({ type: 'plugins', plugins });
      await registered(plugins);
    },
    call(tabId, tool, args = {}, extra = {}) {
      return startCall(relay, tabId, tool, args, extra);
    },
    async clearAlarms() {
      await (await worker()).evaluate(() => chrome.alarms.clearAll());
    },
    async stopWorker() {
      const page = browser.pages()[0];
      if (page === undefined) throw new Error('no page');
      const session = await browser.newCDPSession(page);
      await session.send('ServiceWorker.enable');
      await session.send('ServiceWorker.stopAllWorkers');
      await session.detach();
    },
    async close() {
      await browser.close();
      relay.close();
      server.closeAllConnections();
      server.close();
      // A browser may still be writing to its profile while it ends.
      const all = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };
      for (const path of [folder, profile]) rmSync(path, all);
    },
  };
}

interface TabFrame {
  id: number;
  url: string;
  status: string;
}

const isTab = (value: unknown): value is TabFrame =>
  typeof value === 'object' && value !== null && 'id' in value && 'url' in value && 'status' in value;

function startCall(relay: TestRelay, tabId: number, tool: string, args: object, extra: object): Call {
  const [plugin, name] = tool.split('.');
  const id = randomBytes(16).toString('hex');
  const from = relay.got.length;
  const begun = performance.now();
  const outcome = relay
    .wait((frame) => frame.type === 'outcome' && frame.id === id, from)
    .then((got) => ({ ...got, ms: Math.round(performance.now() - begun) }));
  const started = relay.wait((frame) => frame.type === 'started' && frame.id === id, from);
  started.catch(() => {}); // not every call starts
  relay.send(
    {
      type: 'call',
      id,
      plugin,
      hash,
      tool: name,
      tabId,
      write: false,
      timeoutMs: 30_000,
      maxTimeoutMs: 300_000,
      progressExtends: true,
      maxResultBytes: 10 << 20,
      consoleTailBytes: 4096,
      ...extra,
    },
    JSON.stringify(args),
  );
  return { id, started, outcome };
}
