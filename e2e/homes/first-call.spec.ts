// From the files of a release to the result of the first call, by each way there is. Clicks of the mouse and presses of
// Enter are counted; the seconds are printed, and the screen is kept after each step, beside the results of the tests.

import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { BrowserContext, Page } from '@playwright/test';
import { z } from 'zod';
import { serve } from '../../packaging/test/npm-registry.ts';
import { Agent } from '../stage/agent.ts';
import type { Closing } from '../stage/closing.ts';
import { repository, temporaryFolder } from '../stage/paths.ts';
import { run } from '../stage/process.ts';
import { expectReadable } from '../stage/readable.ts';
import { expect, test } from '../stage/test.ts';
import { Home, released, type Terminal } from './home.ts';

const greeting = /Hello, .*This answer comes from a page in your own browser/;
const folder = '/home/ada/.tabrelay/extension';

/** The one file of a release, in a folder of it, whose name is like this. */
function file(pattern: RegExp, within = ''): string {
  const [found, ...more] = readdirSync(path.join(released, within)).filter((name) => pattern.test(name));
  if (found === undefined || more.length > 0) throw new Error(`make snapshot builds the files: ${pattern}`);
  return path.join(within, found);
}

/** Counts what a way takes; it may take four clicks. */
class Way {
  readonly #began = Date.now();
  readonly #home: Home;
  readonly #name: string;

  constructor(home: Home, name: string) {
    this.#home = home;
    this.#name = name;
  }

  async called(): Promise<void> {
    const seconds = ((Date.now() - this.#began) / 1000).toFixed(1);
    const { clicks, enters } = this.#home;
    console.log(`${this.#name}: ${clicks} clicks, Enter ${enters} times, ${seconds} s`);
    await this.#home.picture('called');
    expect(clicks).toBeLessThanOrEqual(4);
  }
}

const firstTab = ([page]: Page[]): Page => {
  if (page === undefined) throw new Error('the browser has no tab');
  return page;
};

/** Loads the extension as the guide says; what the person does between is for the terminal. */
async function loadUnpacked(
  home: Home,
  browser: BrowserContext,
  between = async () => {},
  named = folder,
): Promise<void> {
  await home.open('chrome://extensions/');
  const page = firstTab(browser.pages());
  await expect(page.locator('#devMode')).toBeVisible();
  await between();
  await home.press(page.locator('#devMode'));
  const load = page.getByRole('button', { name: 'Load unpacked' });
  await expect(load).toBeInViewport({ ratio: 1 });
  await home.picture('developer-mode');
  await between();
  await home.press(load);
  const dialog = await home.window('extension directory');
  await home.key('ctrl+l');
  await home.type(named);
  await home.picture('folder');
  await home.pressLast(dialog);
}

/** Does what `tabrelay up` says, at the terminal and in the browser, up to the first call's result. */
async function followGuide(home: Home, terminal: Terminal, browser: BrowserContext): Promise<void> {
  const steps = ['1. Open the extensions page', '2. Switch Developer mode on', '3. Load the extension'];
  await terminal.shows(steps.shift() ?? '');
  await loadUnpacked(home, browser, async () => {
    terminal.enter();
    await terminal.shows(steps.shift() ?? '');
  });
  await terminal.shows(greeting);
  await terminal.shows("click tabrelay's icon");
}

/** An npm as it is installed beside Debian's Node, and a registry that has the packages of the release. */
async function installNpm(home: Home, closing: Closing): Promise<() => void> {
  const registry = await serve({ after: (close) => closing.defer(async () => close()) });
  writeFileSync(home.file('home/ada/.npmrc'), `registry=${registry.address}/\n`);
  await home.ran('sudo ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/bin/npx');
  await home.ran('sudo ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/bin/npm');
  return registry.close;
}

const npm = { [path.join(repository, 'packaging/node_modules/npm')]: 'usr/lib/node_modules/npm' };

test('the archive', async ({ closing }) => {
  const home = await Home.open(closing);
  const browser = await home.browser();
  await home.picture('before');
  const terminal = home.terminal();
  const way = new Way(home, 'archive');
  terminal.enter(`tar xzf /released/${file(/-linux-amd64\.tar\.gz$/)} && ./tabrelay up`);
  await followGuide(home, terminal, browser);
  await way.called();
  // What it says to type makes it a command of this shell, and no folder was missing for that.
  const [, hint = ''] = /To call it by its name: (.+)/.exec(terminal.text) ?? [];
  terminal.enter(`${hint} && echo done: $?`);
  await terminal.shows('done: 0');
  expect(await home.ran('tabrelay call demo__hello')).toMatch(greeting);
  await test.info().attach('terminal', { body: terminal.text });
});

test('the package for Debian', async ({ closing }) => {
  const home = await Home.open(closing);
  const browser = await home.browser();
  const terminal = home.terminal();
  const way = new Way(home, 'deb');
  terminal.enter(`sudo apt-get install -q /released/${file(/_amd64\.deb$/)} && tabrelay up`);
  await followGuide(home, terminal, browser);
  await way.called();
  expect(terminal.text).not.toContain('not in your PATH');
  expect(await home.ran('tabrelay call demo__hello')).toMatch(greeting);
  await test.info().attach('terminal', { body: terminal.text });
});

test('npx, which needs no network afterwards', async ({ closing }) => {
  const home = await Home.open(closing, { with: 'node', folders: npm });
  const close = await installNpm(home, closing);
  const browser = await home.browser();
  const terminal = home.terminal();
  const way = new Way(home, 'npx');
  terminal.enter('npx -y tabrelay up');
  await followGuide(home, terminal, browser);
  await way.called();
  expect(terminal.text).toContain('Next: npx tabrelay connect claude-code');
  expect(terminal.text).toContain('npm install --global tabrelay');
  close();
  expect(await home.ran('npx --offline tabrelay call demo__hello')).toMatch(greeting);
  await test.info().attach('terminal', { body: terminal.text });
});

test('the desktop bundle, as Claude Desktop starts it', async ({ closing }) => {
  const tool = path.join(repository, 'packaging/node_modules/@anthropic-ai/mcpb/dist');
  const unpacked = path.join(await temporaryFolder('bundle', closing), 'unpacked');
  const bundle = path.join(released, file(/-linux-amd64\.mcpb$/, 'mcpb'));
  await run(process.execPath, [path.join(tool, 'cli/cli.js'), 'unpack', bundle, unpacked]);
  const home = await Home.open(closing);
  const own = '/home/ada/.config/Claude/Claude Extensions/tabrelay';
  cpSync(unpacked, home.file(own), { recursive: true });
  await home.ran('sudo chown -R ada: /home/ada/.config');
  const browser = await home.browser();

  const { getMcpConfigForManifest } = await import(path.join(tool, 'index.js'));
  const config = await getMcpConfigForManifest({
    manifest: JSON.parse(readFileSync(path.join(unpacked, 'manifest.json'), 'utf8')),
    extensionPath: own,
    systemDirs: {},
    userConfig: { toolset: 'demo,browser' },
    pathSeparator: '/',
  });
  const { command, args } = z.object({ command: z.string(), args: z.array(z.string()) }).parse(config);
  expect(args).toContain('--toolset=demo,browser');
  const line = [command, ...args].map((word) => `'${word}'`).join(' ');
  const [program = '', ...rest] = home.asPerson(`exec ${line}`);
  const way = new Way(home, 'mcpb');
  const transport = new StdioClientTransport({ command: program, args: rest, stderr: 'inherit' });
  const client = new Client({ name: 'claude-ai', version: '1' });
  closing.defer(() => client.close());
  await client.connect(transport);
  const agent = new Agent(client, transport);
  expect(await agent.tools()).toContain('demo__hello');
  // The person does what the agent reads out to them, who has no other command for it.
  const { hint = '' } = expectReadable(await agent.call('demo__hello'), 'EXTENSION_NOT_INSTALLED');
  expect(hint).not.toMatch(/tabrelay up|terminal/);
  const [, named = ''] =
    /open chrome:.*Developer mode on.*“Load unpacked”.*the folder (\S+) /.exec(hint) ?? [];
  expect(named).toBe('~/.tabrelay/extension');
  await test.info().attach('hint', { body: hint });
  await loadUnpacked(home, browser, undefined, named);
  await home.picture('loaded');
  await home.open('http://127.0.0.1:7718/');
  await expect(async () => expect((await agent.call('demo__hello')).text).toMatch(greeting)).toPass();
  await way.called();
});

test('the extension from a store, without a relay', async ({ closing }) => {
  const home = await Home.open(closing, { with: 'node', folders: npm });
  await installNpm(home, closing);
  // A store gives it an id of its own, which the program then knows; here it has the one that the program knows.
  const store = home.file('home/ada/store');
  cpSync(path.join(released, 'store/unpacked'), store, { recursive: true });
  const manifestFile = path.join(store, 'manifest.json');
  const manifest = z.looseObject({}).parse(JSON.parse(readFileSync(manifestFile, 'utf8')));
  const { key } = JSON.parse(readFileSync(path.join(repository, 'extension/manifest.json'), 'utf8'));
  rmSync(manifestFile);
  writeFileSync(manifestFile, JSON.stringify({ ...manifest, key }));
  const browser = await home.browser('--load-extension=/home/ada/store');
  const isFirst = (page: Page) => page.url().endsWith('/panel.html#setup');
  await expect.poll(() => browser.pages().filter(isFirst).length).toBe(1);
  const page = firstTab(browser.pages().filter(isFirst));
  await home.picture('first-page');
  const way = new Way(home, 'store');
  await home.press(page.getByRole('button', { name: 'Copy: The line for Linux' }));
  await expect(page.getByText('npx tabrelay up').first()).toBeVisible();
  const terminal = home.terminal();
  terminal.enter('npx -y tabrelay up'); // what was copied, and the answer to npm's question
  await terminal.shows(greeting); // `up` finds the extension that has found it, and asks for nothing more
  await way.called();
  await expect(page.getByRole('heading', { name: 'Connect this browser (done)' })).toBeAttached();
  await test.info().attach('terminal', { body: terminal.text });
});
