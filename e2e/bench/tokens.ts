// What an agent pays before and between its calls, in tokens of o200k: the lists of tools with no site open, one and
// three, each tool of them, the health of a relay that is well, a search, and the errors that agents meet most. Not a
// test: nothing fails on a figure.
//
//   node --import tsx e2e/bench/tokens.ts             prints the figures
//   node --import tsx e2e/bench/tokens.ts --each      prints each tool and each error too

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { type BrowserContext, expect } from '@playwright/test';
import { z } from 'zod';
import { type Agent, stdioAgent } from '../stage/agent.ts';
import { openBrowser } from '../stage/browser.ts';
import { Closing } from '../stage/closing.ts';
import { repository } from '../stage/paths.ts';
import { testPlugin } from '../stage/plugin.ts';
import { freePort } from '../stage/port.ts';
import { openRelay, type Relay } from '../stage/relay.ts';
import { tokens } from '../stage/tokens.ts';

const each = process.argv.includes('--each');

/** Sites that are opened one after the other, the largest of the shipped plugins first. */
const sites = ['mediawiki', 'wordpress', 'roundcube'];

/** Those that are opened after them. */
const others = ['prometheus', 'pocketbase', 'node-red', 'dokuwiki'];

const Phrasings = z.object({ tuned: z.array(z.object({ query: z.string() })) });

const phrasings = await readFile(
  path.join(repository, 'relay/road/registry/testdata/phrasings.json'),
  'utf8',
);
const queries = Phrasings.parse(JSON.parse(phrasings)).tuned.map(({ query }) => query);

const row = (what: string, count: number, goal = '', more = '') =>
  console.log(what.padEnd(56), String(count).padStart(7), goal.padStart(7), more);

/** A web application that is an empty page: the list asks only where tabs are. */
async function openSite(closing: Closing): Promise<string> {
  const port = await freePort();
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<title>A site</title><p>It is open.');
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${port}`;
}

async function open(relay: Relay, browser: BrowserContext, url: string) {
  const page = await browser.newPage();
  await page.goto(url);
  await expect.poll(() => relay.tabs(), { message: 'the relay learns of the tab' }).toContain(page.url());
  return page;
}

/** What a model is given of a tool: its name, description and input schema. */
async function measureList(agent: Agent, what: string, goal: string): Promise<void> {
  const { tools } = await agent.client.listTools();
  const one = (tool: (typeof tools)[number]) =>
    tokens(tool.name) + tokens(tool.description ?? '') + tokens(JSON.stringify(tool.inputSchema));
  const instructions = tokens(agent.client.getInstructions() ?? '');
  const sum = tools.reduce((total, tool) => total + one(tool), instructions);
  row(what, sum, goal, `${tools.length} tools, ${instructions} of them instructions`);
  if (!each) return;
  const groups = new Map<string, number>();
  for (const tool of tools) {
    const group = tool.name.includes('__') ? (tool.name.split('__')[0] ?? '') : 'agents';
    groups.set(group, (groups.get(group) ?? 0) + one(tool));
    row(`  ${tool.name}`, one(tool));
  }
  for (const [group, count] of groups) row(`  all of ${group}`, count);
}

/** The text that an agent reads of a call, whether it fails by MCP's own error or by a result. */
async function said(agent: Agent, name: string, args: Record<string, unknown>, timeoutMs?: number) {
  try {
    const answer = await agent.call(name, args, timeoutMs === undefined ? {} : { timeoutMs });
    return answer.texts.join('\n');
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const closing = new Closing();
let total = 0;

async function measureError(what: string, text: Promise<string>): Promise<void> {
  const answer = await text;
  const count = tokens(answer);
  total += count;
  row(what, count);
  if (each) console.log(answer.replace(/^/gm, '    | '));
}

try {
  const demo = `http://127.0.0.1:${await freePort()}`;
  const addresses = new Map<string, string>();
  for (const name of [...sites, ...others]) addresses.set(name, await openSite(closing));
  const relay = await openRelay(
    closing,
    {
      demo: { listen: new URL(demo).host },
      plugins: Object.fromEntries(
        [...addresses].map(([name, url]) => [name, { settings: { url: `${url}/` } }]),
      ),
      permissions: { default: 'auto', demo__list_pages: 'off' },
      review: { required: false },
    },
    { guarded: true },
  );
  const tally = await openSite(closing);
  await relay.tabrelay('plugin', 'add', await testPlugin('tally', tally, closing));
  const browser = await openBrowser(relay, closing);
  await expect.poll(() => relay.browsers(), { message: 'the extension connects' }).toBe(1);

  console.log(`TOKENS (o200k)${' '.repeat(46)}HERE    GOAL`);
  const agent = await stdioAgent(relay, closing);
  await measureList(agent, 'list of tools, no site open', '2500');
  let opened = 0;
  for (const name of sites) {
    await open(relay, browser, addresses.get(name) ?? '');
    opened++;
    if (opened === 1) await measureList(await stdioAgent(relay, closing), `  one site open: ${name}`, '');
  }
  await measureList(await stdioAgent(relay, closing), `  three open: ${sites.join(', ')}`, '6000');
  const more = [];
  for (const name of others) more.push(await open(relay, browser, addresses.get(name) ?? ''));
  await measureList(await stdioAgent(relay, closing), '  seven open', '6000');
  for (const page of more) await page.close();
  await measureList(await stdioAgent(relay, closing, ['--toolset', 'all']), '  --toolset all', '');
  await measureList(await stdioAgent(relay, closing, ['--toolset', 'gateway']), '  --toolset gateway', '');
  const health = await said(agent, 'bridge_health', {});
  row('bridge_health, all is well', tokens(health), '40');
  if (each) console.log(health.replace(/^/gm, '    | '));
  const gateway = await stdioAgent(relay, closing, ['--toolset', 'gateway']);
  const longest = { query: '', count: 0 };
  for (const query of queries) {
    const found = await said(gateway, 'relay__search_tools', { query });
    if (tokens(found) > longest.count) Object.assign(longest, { query, count: tokens(found) });
    if (each) console.log(`  ${query}\n${found.replace(/^/gm, '    | ')}`);
  }
  row(`relay__search_tools, the longest of ${queries.length} answers`, longest.count, '250', longest.query);

  console.log(`\nTHE COMMONEST ERRORS${' '.repeat(40)}HERE`);
  await measureError('no tool has the name', said(agent, 'mediawiki__edit', {}));
  await measureError('no open tab belongs to the plugin', said(agent, 'prometheus__alerts', {}));
  await measureError('the tab does not exist', said(agent, 'mediawiki__current_user', { tabId: 4711 }));
  const page = await open(relay, browser, `${demo}/`);
  await measureError('an argument is missing', said(agent, 'demo__get_page', {}));
  await measureError('an argument has the wrong type', said(agent, 'demo__hello', { tabId: 'two' }));
  await measureError('the application has no such thing', said(agent, 'demo__get_page', { slug: 'milk' }));
  await measureError('a rule forbids the tool', said(agent, 'demo__list_pages', {}));
  await measureError('the profile is not connected', said(agent, 'demo__hello', { profile: 'Work' }));
  const counters = `${demo}/api/counters/**`;
  await browser.route(counters, (route) => route.fulfill({ status: 401, body: 'sign in' }));
  await measureError('nobody is signed in', said(agent, 'demo__counter_read', {}));
  await browser.unroute(counters);
  await browser.route(counters, (route) =>
    route.fulfill({ status: 429, headers: { 'retry-after': '2' }, body: 'slow down' }),
  );
  await measureError('the application says to wait', said(agent, 'demo__counter_increment', {}));
  await browser.unroute(counters);
  await agent.call('demo__counter_increment', {});
  const other = await stdioAgent(relay, closing, ['--client', 'another']);
  await measureError('another agent works in the tab', said(other, 'demo__counter_increment', {}));
  await page.close();
  await open(relay, browser, `${tally}/`);
  await browser.route(`${tally}/writes/**`, () => {});
  const write = () => said(agent, 'tally__write', { token: 'one' }, 500);
  await measureError('the tool takes too long', write());
  await measureError('an earlier write has not ended', write());
  await browser.close();
  await expect.poll(() => relay.browsers(), { message: 'the browser is gone' }).toBe(0);
  await measureError('no browser is connected', said(agent, 'demo__hello', {}));
  row('all of them', total);
} finally {
  await closing.close();
}
