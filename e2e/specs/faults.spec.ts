// Things break during a call. Each ends as the failure contract says, soon, and nothing is done twice:
// the demo site counts what it was asked.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Agent } from '../stage/agent.ts';
import { stopWorker } from '../stage/browser.ts';
import { openProxy } from '../stage/proxy.ts';
import { expectReadable } from '../stage/readable.ts';
import { expect, openStage, quickest, type Stage, test, timed, visit } from '../stage/test.ts';

/** A relay that waits for a browser that is on its way back as long as that takes on a busy machine. */
const patient = { config: { gapWaitMs: 60_000 } };

/** Starts a write that takes a while, and returns once the page has begun it. */
async function begin({ agent, demo }: Stage, name: string, ms: number) {
  const call = agent.call('demo__slow_increment', { name, ms, note: name });
  call.catch(() => {}); // awaited by the test, after something broke
  await demo.notes(name, 1);
  return { call };
}

/** The connection works, and the action happened exactly once. */
async function expectOnce({ agent, demo }: Stage, name: string): Promise<void> {
  expect((await agent.call('demo__hello')).failed).toBe(false);
  expect((await demo.counter(name)).asked).toBe(1);
}

test('service worker stopped during a call: its own outcome is delivered', async ({ closing }) => {
  const stage = await openStage(closing, patient);
  const took = await quickest(2500, async (n) => {
    const { call } = await begin(stage, `worker${n}`, 1500);
    await stopWorker(stage.browser);
    const { result, ms } = await timed(call);
    expect(result.value).toMatchObject({ value: 1 });
    await expectOnce(stage, `worker${n}`);
    return ms;
  });
  expect(took).toBeLessThan(2500);
});

test('service worker stopped while nothing runs: the next call works at once', async ({ closing }) => {
  const stage = await openStage(closing, patient);
  const took = await quickest(1000, async (n) => {
    await stopWorker(stage.browser);
    const { result, ms } = await timed(stage.agent.call('demo__counter_increment', { name: `idle${n}` }));
    expect(result.value).toMatchObject({ asked: 1 });
    return ms;
  });
  expect(took).toBeLessThan(1000);
});

test('relay killed during a call: the agent gets the outcome from the next relay', async ({ closing }) => {
  const stage = await openStage(closing, patient);
  stage.closing.defer(() => stage.relay.tabrelay('down'));
  // The browser is back when the write ends, or dials again within five seconds.
  const took = await quickest(9000, async (n) => {
    const name = `relay${n}`;
    const call = stage.agent.call('demo__slow_increment', { name, ms: 4000 }); // its end needs no site
    call.catch(() => {}); // it is awaited below
    await expect.poll(async () => (await stage.demo.counter(name)).asked).toBe(1);
    await stage.page.evaluate(() => fetch('/').then(() => undefined)); // the page has heard what the site answered
    const running = await stage.relay.announced();
    if (running === undefined) throw new Error('there is no relay to kill');
    process.kill(running.pid, 'SIGKILL');
    const { result, ms } = await timed(call);
    expect(result.value).toMatchObject({ asked: 1 });
    // The demo site restarted with the relay and counts from zero: anything done again would show.
    expect((await stage.agent.call('demo__hello')).failed).toBe(false);
    expect((await stage.demo.counter(name)).asked).toBe(0);
    return ms;
  });
  expect(took).toBeLessThan(9000);
});

test('socket cut during a call: the outcome is fetched over the next one', async ({ closing }) => {
  let cut = () => {};
  const stage = await openStage(closing, {
    ...patient,
    async beforeBrowser(relay) {
      const proxy = await openProxy(new URL(await relay.url('/')).host, closing);
      cut = proxy.cut;
      const pairing = path.join(relay.extension, 'pairing.json');
      const { secret } = JSON.parse(await readFile(pairing, 'utf8'));
      await writeFile(pairing, JSON.stringify({ address: proxy.address, secret }));
    },
  });
  const took = await quickest(1800, async (n) => {
    const { call } = await begin(stage, `socket${n}`, 800);
    cut();
    const { result, ms } = await timed(call);
    expect(result.value).toMatchObject({ value: 1 });
    await expectOnce(stage, `socket${n}`);
    return ms;
  });
  expect(took).toBeLessThan(1800);
});

test('tab closed during a call: the end is unknown, and said at once', async ({ stage }) => {
  await stage.page.goto('about:blank'); // Chromium ends with its last tab
  await expect.poll(() => stage.relay.tabs()).toEqual([]);
  const took = await quickest(1000, async (n) => {
    const page = await stage.browser.newPage();
    await visit({ ...stage, page }, stage.demo.url);
    const { call } = await begin(stage, `closed${n}`, 30_000);
    const { result, ms } = await timed(Promise.all([call, page.close()]));
    expectReadable(result[0], 'TAB_NOT_FOUND');
    expect(result[0].block).toMatchObject({ outcome: 'unknown', retryable: false });
    expect((await stage.demo.counter(`closed${n}`)).asked).toBe(1);
    await expect.poll(() => stage.relay.tabs()).toEqual([]);
    return ms;
  });
  expect(took).toBeLessThan(1000);
});

test('tab navigated during a call: the end is unknown, and the call runs in no other page', async ({
  stage,
}) => {
  const took = await quickest(1000, async (n) => {
    const { call } = await begin(stage, `navigated${n}`, 30_000);
    const page = `${stage.demo.url}/${n % 2 === 0 ? 'pages/tea' : ''}`;
    const { result, ms } = await timed(Promise.all([call, stage.page.goto(page)]));
    expectReadable(result[0], 'TAB_CHANGED');
    expect(result[0].block).toMatchObject({ outcome: 'unknown', retryable: false });
    await expectOnce(stage, `navigated${n}`);
    return ms;
  });
  expect(took).toBeLessThan(1000);
});

test('no tab of the site: TAB_NOT_FOUND names the page to open', async ({ stage }) => {
  await stage.page.goto('about:blank');
  await expect.poll(() => stage.relay.tabs()).toEqual([]);
  const took = await quickest(1000, async () => {
    const { result, ms } = await timed(stage.agent.call('demo__counter_increment', { name: 'none' }));
    expectReadable(result, 'TAB_NOT_FOUND');
    expect(result.block).toMatchObject({ outcome: 'not_executed' });
    expect(result.text).toContain(stage.demo.url);
    return ms;
  });
  expect(took).toBeLessThan(1000);
  expect((await stage.demo.counter('none')).asked).toBe(0);
});

test('an answer too large is refused in the page; the connection stays', async ({ stage }) => {
  const took = await quickest(5000, async () => {
    const { result, ms } = await timed(stage.agent.call('demo__big_output', { bytes: 20 * 1024 * 1024 }));
    expectReadable(result, 'OUTPUT_TOO_LARGE');
    expect(result.block).toMatchObject({ outcome: 'executed', retryable: false });
    return ms;
  });
  expect(took).toBeLessThan(5000);
  await expectNext(stage.agent);
});

test('arguments too large for a frame are refused; the connection stays', async ({ stage }) => {
  const name = 'x'.repeat(17 * 1024 * 1024);
  const answer = await stage.agent.call('demo__hello', { name });
  expectReadable(answer, 'INPUT_TOO_LARGE');
  expect(answer.block).toMatchObject({ outcome: 'not_executed' });
  await expectNext(stage.agent);
});

async function expectNext(agent: Agent): Promise<void> {
  const took = await quickest(1000, async () => {
    const { result, ms } = await timed(agent.call('demo__hello'));
    expect(result.failed).toBe(false);
    return ms;
  });
  expect(took).toBeLessThan(1000);
}

test('a page that is busy: TAB_UNRESPONSIVE, nothing done', async ({ closing }) => {
  const stage = await openStage(closing, { config: { startTimeoutMs: 2000 } });
  const took = await quickest(4000, async (n) => {
    const blocked = stage.agent.call('demo__block_page', { ms: 10_000, note: `busy${n}` });
    await stage.demo.notes(`busy${n}`, 1);
    const busy = await timed(stage.agent.call('demo__counter_increment', { name: 'busy' }));
    expectReadable(busy.result, 'TAB_UNRESPONSIVE');
    expect(busy.result.texts[0]).toContain('within 2 s');
    expect((await blocked).value).toEqual({ blockedMs: 10_000 });
    return busy.ms;
  });
  expect(took).toBeLessThan(4000);
  // What was given up is not done later either.
  expect((await stage.agent.call('demo__counter_increment', { name: 'busy' })).value).toMatchObject({
    asked: 1,
  });
});

test('a tool that ignores its deadline keeps writes away from the tab, and reads go on', async ({
  stage,
}) => {
  const late = await stage.agent.call('demo__never_answer', {}, { timeoutMs: 1200 });
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
