// Tabs that an agent opens: what became of the page, and where the next call goes.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { z } from 'zod';
import type { Closing } from '../stage/closing.ts';
import { freePort, portOf } from '../stage/port.ts';
import { expect, test } from '../stage/test.ts';

/** A site that redirects, refuses, answers nothing, and keeps people waiting. */
async function openSite(closing: Closing): Promise<string> {
  const server = createServer(({ url }, response) => {
    response.setHeader('content-type', 'text/html');
    switch (url) {
      case '/from':
        return response.writeHead(302, { location: '/to' }).end();
      case '/missing':
        return response.writeHead(404).end('<title>No such page</title>not here');
      case '/nothing':
        return response.writeHead(204).end();
      case '/endless':
        return response.write('<title>Endless</title><p>and so on');
      case '/silent':
        return;
      default:
        return response.end('<title>Arrived</title><p>here');
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server.address())}`;
}

const Opened = z.object({
  tabId: z.number(),
  url: z.string(),
  title: z.string(),
  status: z.string(),
  httpStatus: z.number().optional(),
});

test('the final address, the title, how far it is, and its status', async ({ stage: { agent, closing } }) => {
  const site = await openSite(closing);
  const open = async (path: string) =>
    Opened.parse((await agent.call('browser__open_tab', { url: site + path })).value);
  expect(await open('/from')).toMatchObject({
    url: `${site}/to`,
    title: 'Arrived',
    status: 'complete',
    httpStatus: 200,
  });
  expect(await open('/missing')).toMatchObject({
    title: 'No such page',
    status: 'complete',
    httpStatus: 404,
  });
  expect(await open('/endless')).toMatchObject({
    url: `${site}/endless`,
    status: 'loading',
    httpStatus: 200,
  });
  expect(await open('/silent')).toMatchObject({ url: `${site}/silent`, status: 'loading' });
});

test('an address that does not load is a failure, and leaves no tab', async ({ stage }) => {
  const { agent, browser, closing } = stage;
  const site = await openSite(closing);
  const before = browser.pages().length;
  for (const [url, reason] of [
    ['http://no-such-host.invalid/', 'ERR_NAME_NOT_RESOLVED'],
    [`http://127.0.0.1:${await freePort()}/`, 'ERR_CONNECTION_REFUSED'],
    [`${site}/nothing`, 'ERR_ABORTED'],
  ] as const) {
    const { failed, code, text, block } = await agent.call('browser__open_tab', { url });
    expect(failed).toBe(true);
    expect(block.retryable, url).toBe(reason !== 'ERR_ABORTED'); // it may have been a download
    expect(code).toBe('PAGE_NOT_LOADED');
    expect(text).toContain(reason);
  }
  await expect.poll(() => browser.pages().length).toBe(before);
});

test('the next call goes to the tab that was opened, and back when the agent says so', async ({ stage }) => {
  const { agent, demo } = stage;
  const tabOf = async (args = {}) =>
    z.object({ tabId: z.number() }).parse((await agent.call('demo__hello', args)).meta['tabrelay/call'])
      .tabId;
  const first = await tabOf();
  const { tabId } = Opened.parse(
    (await agent.call('browser__open_tab', { url: `${demo.url}/pages/tea` })).value,
  );
  expect(tabId).not.toBe(first);
  expect(await tabOf()).toBe(tabId);
  expect(await tabOf({ tabId: first })).toBe(first);
  expect(await tabOf()).toBe(first);
});
