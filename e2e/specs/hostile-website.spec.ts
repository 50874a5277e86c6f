// A website that the person happens to visit while the relay runs: it makes their browser send whatever a page can,
// to every route, from its own origin and, after DNS rebinding, from what looks like the relay's own. Nothing
// happens, and it learns nothing. The browser's own protection of local addresses is switched off, because not every
// browser has it.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { z } from 'zod';
import { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';
import { type Route, routes } from '../stage/routes.ts';
import stageTest, { expect, openStage, type Stage } from '../stage/test.ts';

const attack = readFileSync(path.join(import.meta.dirname, '../sites/website.js'), 'utf8');
const host = 'website.example';

interface WebsiteStage extends Stage {
  /** Origin of the website. */
  site: string;
  /** Origin of the relay. */
  relayUrl: string;
}

/** One relay and one browser for all: what an attack must not change is compared with what it was before it. */
const test = stageTest.extend<object, { website: WebsiteStage }>({
  website: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const browserFlags = [
        `--host-resolver-rules=MAP ${host} 127.0.0.1`,
        '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests',
      ];
      const stage = await openStage(closing, { browserFlags });
      await use({ ...stage, site: await openSite(closing), relayUrl: await stage.relay.url('') });
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

/** Serves empty pages, under a name that is not this machine's. */
async function openSite(closing: Closing): Promise<string> {
  const server = createServer((_, answer) => {
    answer.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Nice pictures</title>');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${host}:${portOf(server.address())}`;
}

/** The status of every answer that relay gives to the page, as the browser's network stack saw it. */
async function statusesOf(page: Page, port: string): Promise<Map<number, Set<string>>> {
  const statuses = new Map<number, Set<string>>();
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const urls = new Map<string, string>();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
  session.on('Network.webSocketCreated', ({ requestId, url }) => urls.set(requestId, url));
  const note = (requestId: string, status: number) => {
    const url = urls.get(requestId) ?? '';
    if (URL.canParse(url) && new URL(url).port === port)
      statuses.set(status, (statuses.get(status) ?? new Set()).add(new URL(url).pathname));
  };
  session.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) => note(requestId, statusCode));
  session.on('Network.webSocketHandshakeResponseReceived', ({ requestId, response }) =>
    note(requestId, response.status),
  );
  return statuses;
}

/** How often the demo site was asked for what an attack asks for. */
const timesAsked = async ({ demo }: Stage) => (await demo.counter('website')).asked;

/** What could have changed. */
async function stateOf(website: Stage): Promise<unknown> {
  const { relay } = website;
  return {
    asked: await timesAsked(website),
    pid: (await relay.announced())?.pid,
    rules: await relay.tabrelay('permit'),
    clients: await relay.tabrelay('clients'),
    plugins: await relay.tabrelay('plugin', 'list'),
  };
}

/**
 * The agent goes on when the person has left the website: until then that keeps the whole browser busy, and for a
 * moment after it. A call that did not happen and may be repeated is repeated, as an agent does; the change is made
 * once.
 */
async function expectUnharmed(website: WebsiteStage, page: Page): Promise<void> {
  const { agent } = website;
  const before = await timesAsked(website);
  await page.close();
  await expect(async () => {
    const after = await agent.call('demo__counter_increment', { name: 'website' });
    const text = after.texts.join('\n');
    if (after.failed) expect(text).toContain('retryable=true outcome=not_executed');
    expect(after.failed, text).toBe(false);
  }).toPass();
  expect(await timesAsked(website)).toBe(before + 1);
}

async function attackFrom(page: Page, relay: string, attacked: readonly Route[]): Promise<unknown> {
  await page.addScriptTag({ content: attack });
  return page.evaluate((target) => Reflect.get(globalThis, 'attack')(target), { relay, routes: attacked });
}

// A page sends a route nineteen requests, four of them for frames: a group is what a browser does in some seconds.
const atOnce = 16;
for (let from = 0; from < routes.length; from += atOnce) {
  const attacked = routes.slice(from, from + atOnce);
  const group = `routes ${from + 1} to ${from + attacked.length}`;

  test(`${group}, from another origin: refused, unread and without effect`, async ({ website }) => {
    const { browser, site, relayUrl } = website;
    const before = await stateOf(website);
    const page = await browser.newPage();
    const statuses = await statusesOf(page, new URL(relayUrl).port);
    await page.goto(site);
    expect(await attackFrom(page, relayUrl, attacked)).toEqual([]);
    expect([...statuses.keys()]).toEqual([403]);
    // What the browser's network says comes on another way than what the page found.
    const paths = new Set(attacked.map((route) => route.path));
    await expect.poll(() => statuses.get(403)?.size).toBe(paths.size);
    expect(await stateOf(website)).toEqual(before);
    await expectUnharmed(website, page);
  });

  test(`${group}, DNS rebinding: a page from the very port of the relay gets nothing`, async ({
    website,
  }) => {
    const { browser, relayUrl } = website;
    const before = await stateOf(website);
    const rebound = relayUrl.replace('127.0.0.1', host);
    const page = await browser.newPage();
    // Before its name led here, it led to the website.
    await page.route(`${rebound}/page`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Nice pictures</title>' }),
    );
    await page.goto(`${rebound}/page`);
    const statuses = await statusesOf(page, new URL(relayUrl).port);
    const seen = z.array(z.string()).parse(await attackFrom(page, rebound, attacked));
    // To its own origin a page may read the answers: they are refusals, all the same and about nothing but the name.
    const said = new Set(seen.map((line) => line.replace(/^[^:]*: /, '')));
    expect([...said].filter((text) => !text.startsWith('403 '))).toEqual([]);
    expect(said.size).toBeLessThanOrEqual(1);
    expect([...said].join()).not.toMatch(/tabrelay\/|demo__|\/home|\/tmp/);
    expect([...statuses.keys()]).toEqual([403]);
    expect(await stateOf(website)).toEqual(before);
    await expectUnharmed(website, page);
  });
}
