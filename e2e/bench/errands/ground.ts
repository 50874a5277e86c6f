// One errand's ground: a fresh Chromium that listens for DevTools, where a person signs in, and then a server attaches
// to it: the extension, or a peer by the address of DevTools. All get the same executable and flags.

import { chmod, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { chromium, expect, type Page } from '@playwright/test';
import type { Closing } from '../../stage/closing.ts';
import { binary, browser, repository, temporaryFolder } from '../../stage/paths.ts';
import { run, start } from '../../stage/process.ts';
import { openRelay } from '../../stage/relay.ts';
import { tokens } from '../../stage/tokens.ts';
import { AgentBrowserDriver, guide } from './agent-browser.ts';
import { byLines, inShell, overMCP } from './caller.ts';
import { DevtoolsDriver } from './devtools.ts';
import type { Driver } from './driver.ts';
import { PlaywrightDriver } from './playwright.ts';
import { TabrelayDriver } from './tabrelay.ts';

/** The servers, and the ways in which an agent uses one. */
export const servers = [
  'tabrelay',
  'scripts',
  'shell',
  'playwright',
  'code',
  'devtools',
  'agent-browser',
] as const;
export type Server = (typeof servers)[number];

/** Those of tabrelay. */
export const own: readonly Server[] = ['tabrelay', 'scripts', 'shell'];

export const peers = path.join(repository, 'e2e/outside/peers/node_modules');

const flags = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--no-default-browser-check',
  '--window-size=1280,800',
  '--remote-debugging-port=0',
];

/** What a person does before the errand, in the tab it begins in. */
export type SignIn = (page: Page) => Promise<void>;

export interface Ground {
  driver: Driver;
  /** What the person does in that tab later on. */
  asPerson(work: SignIn): Promise<void>;
}

export async function openGround(server: Server, signIn: SignIn, closing: Closing): Promise<Ground> {
  // The person allowed it beforehand: what is compared is how an errand is done, not how long they think.
  const relay = own.includes(server) ? await openRelay(closing) : undefined;
  const folder = await temporaryFolder('profile', closing);
  const extension =
    relay === undefined
      ? []
      : [`--disable-extensions-except=${relay.extension}`, `--load-extension=${relay.extension}`];
  const chromiumProgram = start(browser, [
    ...flags,
    ...extension,
    `--user-data-dir=${folder}`,
    'about:blank',
  ]);
  closing.defer(() => chromiumProgram.stop());
  const address = await devtoolsAddress(folder);
  if (relay !== undefined) {
    const connects = { message: 'the extension connects', timeout: 60_000 };
    await expect.poll(() => relay.browsers(), connects).toBe(1);
    await asPerson(address, signIn);
    const caller =
      server === 'shell'
        ? inShell(relay.env)
        : overMCP(await attach(binary, ['mcp'], relay.env, folder, closing));
    const driver = new TabrelayDriver(caller);
    return { driver, asPerson: (work) => asPerson(address, work) };
  }
  await asPerson(address, signIn);
  if (server === 'agent-browser') {
    const driver = new AgentBrowserDriver(byLines(guide, await inPath(address, closing)));
    return { driver, asPerson: (work) => asPerson(address, work) };
  }
  const workspace = await temporaryFolder('peer', closing);
  const attached =
    server === 'devtools'
      ? ['--browserUrl', address, '--no-usage-statistics', '--no-performance-crux']
      : ['--cdp-endpoint', address];
  const program = [scriptOf(server), ...attached];
  const caller = overMCP(await attach(process.execPath, program, {}, workspace, closing));
  const driver =
    server === 'devtools' ? new DevtoolsDriver(caller, workspace) : new PlaywrightDriver(caller, workspace);
  return { driver, asPerson: (work) => asPerson(address, work) };
}

// The package has a program for each system, which its installation makes executable.
async function installed(): Promise<string> {
  const program = path.join(peers, 'agent-browser/bin', `agent-browser-${process.platform}-${process.arch}`);
  await chmod(program, 0o755);
  return program;
}

// The program itself in the path, as an installation for all users puts it there, a home of its own for what it keeps,
// and the browser that its person has told it to attach to.
async function inPath(address: string, closing: Closing): Promise<Record<string, string>> {
  const home = await temporaryFolder('ab', closing);
  const program = await installed();
  await symlink(program, path.join(home, 'agent-browser'));
  const env = {
    ...{ HOME: home, AGENT_BROWSER_SOCKET_DIR: home, AGENT_BROWSER_CDP: new URL(address).port },
    PATH: `${home}:${process.env.PATH}`,
  };
  closing.defer(async () => void (await run(program, ['close', '--all'], env)));
  return env;
}

const scriptOf = (server: Server): string =>
  path.join(
    peers,
    server === 'devtools'
      ? 'chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js'
      : '@playwright/mcp/cli.js',
  );

/** Tokens of the answer to `tools/list`, as public lists of servers count it: of all of its JSON. */
export async function listedTokens(server: Server, closing: Closing): Promise<number> {
  const folder = await temporaryFolder('list', closing);
  const listed = async (...[command, args, env]: [string, string[], Record<string, string>]) =>
    tokens(JSON.stringify((await (await attach(command, args, env, folder, closing)).listTools()).tools));
  if (own.includes(server)) return listed(binary, ['mcp'], (await openRelay(closing)).env);
  if (server === 'agent-browser') return listed(await installed(), ['mcp'], { HOME: folder });
  return listed(process.execPath, [scriptOf(server)], {});
}

async function attach(
  command: string,
  args: string[],
  env: Record<string, string>,
  cwd: string,
  closing: Closing,
): Promise<Client> {
  const transport = new StdioClientTransport({ command, args, cwd, env, stderr: 'ignore' });
  const client = new Client({ name: 'errands', version: '1.0.0' });
  closing.defer(() => client.close());
  await client.connect(transport);
  return client;
}

async function devtoolsAddress(folder: string): Promise<string> {
  const file = path.join(folder, 'DevToolsActivePort');
  const port = async () => (await readFile(file, 'utf8').catch(() => '')).split('\n')[0];
  await expect.poll(port, { message: 'Chromium listens', timeout: 60_000 }).toMatch(/^\d+$/);
  return `http://127.0.0.1:${await port()}`;
}

// What a person does goes through a connection of its own, which is gone before the server comes.
async function asPerson(address: string, signIn: SignIn): Promise<void> {
  const own = await chromium.connectOverCDP(address);
  const page = own.contexts()[0]?.pages()[0];
  if (page === undefined) throw new Error('Chromium has no tab');
  await signIn(page);
  await own.close();
}
