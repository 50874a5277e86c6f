// Things break during a call. Each ends as the failure contract says, and nothing is done twice:
// the demo site counts what it was asked.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stopWorker } from '../stage/browser.ts';
import { openProxy } from '../stage/proxy.ts';
import { expectReadable } from '../stage/readable.ts';
import { expect, openStage, type Stage, test } from '../stage/test.ts';

/** Starts a write that takes a while, and returns once the page has begun it. */
async function begin({ agent, demo }: Stage, name: string, ms: number) {
  const call = agent.call('trouble__slow_increment', { name, ms, note: name });
  call.catch(() => {}); // awaited by the test, after something broke
  await demo.notes(name, 1);
  return { call };
}

/** The connection works, and the action happened exactly once. */
async function expectOnce({ agent, demo }: Stage, name: string): Promise<void> {
  expect((await agent.call('demo__hello')).failed).toBe(false);
  expect((await demo.counter(name)).asked).toBe(1);
}

test('service worker stopped during a call: its own outcome is delivered', async ({ stage }) => {
  const { call } = await begin(stage, 'worker', 1500);
  await stopWorker(stage.browser);
  expect((await call).value).toMatchObject({ value: 1 });
  await expectOnce(stage, 'worker');
});

test('service worker stopped while nothing runs: the next call works, once', async ({ stage }) => {
  await stopWorker(stage.browser);
  const answer = await stage.agent.call('demo__counter_increment', { name: 'idle' });
  expect(answer.value).toMatchObject({ asked: 1 });
});

test('relay killed during a call: the agent gets the outcome from the next relay', async ({ stage }) => {
  stage.closing.defer(() => stage.relay.tabrelay('down'));
  const call = stage.agent.call('trouble__slow_increment', { name: 'relay', ms: 4000 }); // its end needs no site
  call.catch(() => {}); // it is awaited below
  await expect.poll(async () => (await stage.demo.counter('relay')).asked).toBe(1);
  await stage.page.evaluate(() => fetch('/').then(() => undefined)); // the page has heard what the site answered
  const running = await stage.relay.announced();
  if (running === undefined) throw new Error('there is no relay to kill');
  process.kill(running.pid, 'SIGKILL');
  expect((await call).value).toMatchObject({ asked: 1 });
  // The demo site restarted with the relay and counts from zero: anything done again would show.
  expect((await stage.agent.call('demo__hello')).failed).toBe(false);
  expect((await stage.demo.counter('relay')).asked).toBe(0);
});

test('socket cut during a call: the outcome is fetched over the next one', async ({ closing }) => {
  let cut = () => {};
  const stage = await openStage(closing, {
    async beforeBrowser(relay) {
      const proxy = await openProxy(new URL(await relay.url('/')).host, closing);
      cut = proxy.cut;
      const pairing = path.join(relay.extension, 'pairing.json');
      const { secret } = JSON.parse(await readFile(pairing, 'utf8'));
      await writeFile(pairing, JSON.stringify({ address: proxy.address, secret }));
    },
  });
  const { call } = await begin(stage, 'socket', 800);
  cut();
  expect((await call).value).toMatchObject({ value: 1 });
  await expectOnce(stage, 'socket');
});

test('tab closed during a call: the end is unknown', async ({ sharedStage: stage }) => {
  await stage.browser.newPage(); // Chromium ends with its last tab
  const { call } = await begin(stage, 'closed', 30_000);
  await stage.page.close();
  const answer = await call;
  expectReadable(answer, 'TAB_NOT_FOUND');
  expect(answer.block).toMatchObject({ outcome: 'unknown', retryable: false });
  expect(answer.facts.attempts).toBe(1);
  expect((await stage.demo.counter('closed')).asked).toBe(1);
});

test('tab navigated during a call: the end is unknown, and the call runs in no other page', async ({
  sharedStage: stage,
}) => {
  const { call } = await begin(stage, 'navigated', 30_000);
  await stage.page.goto(`${stage.demo.url}/pages/tea`);
  const answer = await call;
  expectReadable(answer, 'TAB_CHANGED');
  expect(answer.block).toMatchObject({ outcome: 'unknown', retryable: false });
  await expectOnce(stage, 'navigated');
});

test('no tab of the site: TAB_NOT_FOUND names the page to open', async ({ sharedStage: stage }) => {
  await stage.page.goto('about:blank');
  await expect.poll(() => stage.relay.tabs()).toEqual([]);
  const answer = await stage.agent.call('demo__counter_increment', { name: 'none' });
  expectReadable(answer, 'TAB_NOT_FOUND');
  expect(answer.block).toMatchObject({ outcome: 'not_executed' });
  expect(answer.facts.attempts).toBe(1);
  expect(answer.text).toContain(stage.demo.url);
  expect((await stage.demo.counter('none')).asked).toBe(0);
});

test('an answer too large is refused in the page; the connection stays', async ({ sharedStage: stage }) => {
  const answer = await stage.agent.call('trouble__big_output', { bytes: 20 * 1024 * 1024 });
  expectReadable(answer, 'OUTPUT_TOO_LARGE');
  expect(answer.block).toMatchObject({ outcome: 'executed', retryable: false });
  expect((await stage.agent.call('demo__hello')).failed).toBe(false);
});

test('arguments too large for a frame are refused; the connection stays', async ({ sharedStage: stage }) => {
  const name = 'x'.repeat(17 * 1024 * 1024);
  const answer = await stage.agent.call('demo__hello', { name });
  expectReadable(answer, 'INPUT_TOO_LARGE');
  expect(answer.block).toMatchObject({ outcome: 'not_executed' });
  expect((await stage.agent.call('demo__hello')).failed).toBe(false);
});

test('a page that is busy for longer than it may: TAB_UNRESPONSIVE, nothing done', async ({
  sharedStage: stage,
}) => {
  const blocked = stage.agent.call('trouble__block_page', { ms: 10_000, note: 'busy' });
  await stage.demo.notes('busy', 1);
  const busy = await stage.agent.call('demo__counter_increment', { name: 'busy' });
  expectReadable(busy, 'TAB_UNRESPONSIVE');
  expect(busy.text).toContain('within 4 s');
  expect((await blocked).value).toEqual({ blockedMs: 10_000 });
  // What was given up is not done later either.
  const next = await stage.agent.call('demo__counter_increment', { name: 'busy' });
  expect(next.value).toMatchObject({ asked: 1 });
});

test('a page that is busy for a moment, or loads, is waited for', async ({ sharedStage: stage }) => {
  const blocked = stage.agent.call('trouble__block_page', { ms: 2500, note: 'moment' });
  await stage.demo.notes('moment', 1);
  const waited = await stage.agent.call('demo__counter_increment', { name: 'moment' });
  expect(waited.value).toMatchObject({ asked: 1 });
  expect((await blocked).failed).toBe(false);
});

test('a page that shows a dialog: said so, nothing done, and it works when the dialog is gone', async ({
  sharedStage: stage,
}) => {
  const shown = stage.page.waitForEvent('dialog');
  stage.page.evaluate(() => void setTimeout(() => alert('look here')));
  const dialog = await shown;
  const answer = await stage.agent.call('demo__counter_increment', { name: 'dialog' });
  expectReadable(answer, 'TAB_UNRESPONSIVE');
  expect(answer.text).toContain('The page shows a dialog');
  expect(answer.block).toMatchObject({ outcome: 'not_executed', retryable: true });
  await dialog.accept();
  const next = await stage.agent.call('demo__counter_increment', { name: 'dialog' });
  expect(next.value).toMatchObject({ asked: 1 });
});

test('a tab that has crashed is loaded again for the next call', async ({ sharedStage: stage }) => {
  const session = await stage.browser.newCDPSession(stage.page);
  const crashed = stage.page.waitForEvent('crash');
  session.send('Page.crash').catch(() => {}); // nobody is left to answer
  await crashed;
  const answer = await stage.agent.call('demo__counter_increment', { name: 'crashed' });
  expect(answer.value).toMatchObject({ asked: 1 });
});

test('a tool that ignores its deadline keeps writes away from the tab, and reads go on', async ({
  sharedStage: stage,
}) => {
  const late = await stage.agent.call('trouble__never_answer', {}, { timeoutMs: 1200 });
  expectReadable(late, 'TIMEOUT');
  expect((await stage.agent.call('demo__hello')).failed).toBe(false);
  const write = await stage.agent.call('demo__counter_increment', { name: 'after' });
  expectReadable(write, 'TAB_BUSY');
  expect(write.block).toMatchObject({ outcome: 'not_executed', retryable: true });
  await stage.page.reload();
  expect((await stage.agent.call('demo__counter_increment', { name: 'after' })).value).toMatchObject({
    asked: 1,
  });
});

test('browser closed: the agent is told what to do, and the next browser is used', async ({ stage }) => {
  await stage.browser.close();
  await expect.poll(() => stage.relay.browsers()).toBe(0); // a call that was sent already may have run
  const answer = await stage.agent.call('demo__hello');
  expect(answer.failed).toBe(true);
  expect(answer.block).toMatchObject({ outcome: 'not_executed' });
  expect(answer.text).toContain('\nNext: ');
});
