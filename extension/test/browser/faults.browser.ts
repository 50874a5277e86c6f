import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from './patience.ts';
import { type Site, type Stage, setStage } from './stage.ts';

// A page whose own script keeps it busy for longer than one that has loaded may take to begin with a tool.
const slowToLoad: Site = (request, response) => {
  const script =
    request.url === '/slow-to-load'
      ? '<script>for (const end = Date.now() + 6000; Date.now() < end;);</script>'
      : '';
  response.setHeader('content-type', 'text/html');
  response.end(`<!doctype html><title>${request.url}</title><p>plain${script}`);
};

let stage: Stage;
before(async () => {
  stage = await setStage(slowToLoad);
});
after(() => stage?.close());

const text = JSON.stringify;

for (const world of ['iso', 'main']) {
  for (const write of [false, true]) {
    test(`${world}: a ${write ? 'write' : 'read'} outlives its worker`, async () => {
      const { tabId, page } = await stage.open(`/${world}/${write}/death`);
      await stage.call(tabId, `${world}.echo`).outcome;
      const path = `/held/${world}/${write}`;
      const call = stage.call(tabId, `${world}.sleep`, { ms: 0, path }, { write });
      await call.started;
      await until(async () => stage.hits.has(path), 'the tool did not begin');
      const { connections } = stage.relay;
      const from = stage.relay.got.length;
      await stage.stopWorker();
      await stage.relay.wait((frame) => frame.type === 'tabs', from);
      stage.relay.send({ type: 'ask', calls: [{ id: call.id, tabId }] });
      const { frame } = await stage.relay.wait((one) => one.type === 'state' && one.id === call.id, from);
      assert.equal(frame.state, 'running');
      stage.release();
      assert.equal((await call.outcome).payload, '{"slept":0}');
      assert.equal(stage.relay.connections, connections + 1);
      assert.equal(stage.hits.get(path), 1);
      await page.close();
    });

    test(`${world}: a ${write ? 'write' : 'read'} that ended while no worker lived is delivered`, async () => {
      const { tabId, page } = await stage.open(`/${world}/${write}/ended`);
      await stage.call(tabId, `${world}.echo`).outcome;
      const call = stage.call(tabId, `${world}.sleep`, { ms: 40 }, { write });
      await call.started;
      const from = stage.relay.got.length;
      await stage.stopWorker();
      await stage.relay.wait((frame) => frame.type === 'tabs', from);
      stage.relay.send({ type: 'ask', calls: [{ id: call.id, tabId }] });
      assert.equal((await call.outcome).payload, '{"slept":40}');
      await page.close();
    });
  }

  test(`${world}: closing the tab ends the call`, async () => {
    const { tabId, page } = await stage.open(`/${world}/close`);
    const call = stage.call(tabId, `${world}.sleep`, { ms: 20_000 }, { write: true });
    await call.started;
    await page.close();
    assert.match(text((await call.outcome).frame.refusal), /TAB_CLOSED.*unknown/);
  });

  test(`${world}: leaving the page ends the call`, async () => {
    const { tabId, page } = await stage.open(`/${world}/leave`);
    const call = stage.call(tabId, `${world}.sleep`, { ms: 20_000 }, { write: true });
    await call.started;
    await page.goto(`${stage.origin}/${world}/elsewhere`);
    assert.match(text((await call.outcome).frame.refusal), /TAB_CHANGED.*unknown/);
    assert.equal(
      (await stage.call(tabId, `${world}.title`).outcome).payload,
      `{"title":"/${world}/elsewhere"}`,
    );
    await page.goBack({ waitUntil: 'commit' }); // what comes from the back/forward cache does not load again
    assert.equal((await stage.call(tabId, `${world}.title`).outcome).payload, `{"title":"/${world}/leave"}`);
    await page.close();
  });

  test(`${world}: a page that is busy is unresponsive, and never starts the call later`, async () => {
    const { tabId, page } = await stage.open(`/${world}/busy`);
    await stage.call(tabId, `${world}.echo`).outcome;
    const path = `/hit/${world}/busy`;
    const begins = page.waitForEvent('console'); // its last word
    const busy = page.evaluate(() => {
      console.log(0);
      const end = Date.now() + 10_000; // longer than a page may take
      while (Date.now() < end);
    });
    await begins;
    const call = stage.call(tabId, `${world}.sleep`, { ms: 1, path }, { write: true });
    assert.match(text((await call.outcome).frame.refusal), /TAB_UNRESPONSIVE.*within 4 s.*unknown/);
    await busy;
    assert.equal((await stage.call(tabId, `${world}.echo`, { alive: 1 }).outcome).payload, '{"alive":1}');
    assert.equal(stage.hits.get(path), undefined);
    await page.close();
  });

  test(`${world}: a page that shows a dialog is not waited for, and nothing was started`, async () => {
    const { tabId, page } = await stage.open(`/${world}/dialog`);
    await stage.call(tabId, `${world}.echo`).outcome;
    const shown = page.waitForEvent('dialog');
    page.evaluate(() => setTimeout(() => alert('hello')));
    const dialog = await shown;
    const path = `/hit/${world}/dialog`;
    const call = stage.call(tabId, `${world}.sleep`, { ms: 1, path }, { write: true });
    assert.match(text((await call.outcome).frame.refusal), /TAB_UNRESPONSIVE.*shows a dialog.*not_executed/);
    await dialog.accept();
    // The page runs again a moment after its dialog is gone.
    const runs = async () => (await stage.call(tabId, `${world}.echo`).outcome).frame.status === 'returned';
    await until(runs, 'the page stands still without a dialog');
    assert.equal(stage.hits.get(path), undefined);
    await page.close();
  });

  test(`${world}: a dialog that opens while a call waits ends the call`, async () => {
    const { tabId, page } = await stage.open(`/${world}/opens`);
    await stage.call(tabId, `${world}.echo`).outcome;
    const begins = page.waitForEvent('console');
    const shown = page.waitForEvent('dialog');
    page.evaluate(() => {
      console.log(0);
      const end = Date.now() + 1000;
      while (Date.now() < end);
      confirm('really?');
    });
    await begins;
    const { outcome } = stage.call(tabId, `${world}.echo`);
    await (await shown).dismiss();
    const { frame } = await outcome;
    if (frame.status !== 'returned') assert.match(text(frame.refusal), /TAB_UNRESPONSIVE.*shows a dialog/);
    // The page runs again a moment after its dialog is gone.
    const runs = async () => (await stage.call(tabId, `${world}.echo`).outcome).frame.status === 'returned';
    await until(runs, 'the page stands still without a dialog');
    await page.close();
  });
}

test('a page that is slow to load is waited for', async () => {
  const opening = stage.open('/slow-to-load');
  await stage.relay.wait(({ tab }) => /slow-to-load.*"loading"/.test(text(tab) ?? ''), 0);
  const loading = stage.relay.got.findLast(({ frame }) =>
    /slow-to-load.*"loading"/.test(text(frame.tab) ?? ''),
  );
  const tabId = Number(/"id":(\d+)/.exec(text(loading?.frame.tab))?.[1]);
  const { frame } = await stage.call(tabId, 'iso.title').outcome;
  assert.equal(frame.status, 'returned', text(frame));
  await (await opening).page.close();
});

test('a page that looks at its own functions sees those of Chrome', async () => {
  const { page } = await stage.open('/functions');
  const seen = await page.evaluate(() =>
    [alert, confirm, prompt, print].map((one) => [
      one.name,
      one.length,
      String(one).includes('[native code]'),
    ]),
  );
  assert.deepEqual(seen, [
    ['alert', 0, true],
    ['confirm', 0, true],
    ['prompt', 0, true],
    ['print', 0, true],
  ]);
  await page.close();
});

test('a tab that has crashed is told to the relay as one that is not loaded', async () => {
  const { tabId, page } = await stage.open('/crashes');
  const session = await stage.browser.newCDPSession(page);
  const crashed = page.waitForEvent('crash');
  session.send('Page.crash').catch(() => {}); // nobody is left to answer
  await crashed;
  // At once, while Chrome still takes the page for one that the extension may not enter.
  const first = await stage.call(tabId, 'iso.echo', {}).outcome;
  assert.match(text(first.frame.refusal), /TAB_UNRESPONSIVE.*crashed.*not_executed/);
  await stage.relay.wait(
    ({ tab }) => text(tab)?.includes(`"id":${tabId},`) === true && /"discarded":true/.test(text(tab)),
    0,
  );
  const { frame } = await stage.call(tabId, 'iso.echo', {}, { write: true }).outcome;
  assert.match(text(frame.refusal), /TAB_UNRESPONSIVE.*crashed.*not_executed/);
  await page.close();
});

test('a write that was given up keeps later writes away, not reads', async () => {
  const { tabId, page } = await stage.open('/given-up');
  const write = { write: true };
  const call = stage.call(
    tabId,
    'iso.stubborn',
    { ms: 7000 },
    { ...write, timeoutMs: 1000, maxTimeoutMs: 1000 },
  );
  assert.match(text((await call.outcome).frame.refusal), /TIMEOUT.*unknown/);
  const busy = stage.call(tabId, 'iso.echo', { n: 1 }, write);
  assert.equal((await stage.call(tabId, 'iso.echo', { n: 2 }).outcome).payload, '{"n":2}');
  assert.match(text((await busy.outcome).frame.refusal), /TAB_BUSY.*not_executed/);
  // The handler's own end frees the tab, and says what became of the call.
  const own = await stage.relay.wait((one) => one.id === call.id && one.status === 'returned', 0);
  assert.equal(own.payload, '{"slept":7000}');
  assert.equal((await stage.call(tabId, 'iso.echo', { n: 3 }, write).outcome).payload, '{"n":3}');
  await page.close();
});

test('the worker comes back when only hidden tabs could wake it', async () => {
  const { tabId, page } = await stage.open('/hidden');
  await stage.call(tabId, 'iso.echo').outcome;
  const before = stage.relay.got.length;
  const front = await stage.browser.newPage();
  await front.bringToFront();
  const hidden = new RegExp(`(?=.*"id":${tabId}\\b).*"active":false`);
  await stage.relay.wait(({ tab }) => hidden.test(text(tab) ?? ''), before);
  await stage.clearAlarms(); // they would wake it, too, half a minute later
  const from = stage.relay.got.length;
  await stage.stopWorker();
  await stage.relay.wait((frame) => frame.type === 'tabs', from);
  await front.close();
  await page.close();
});

test('a write whose document never saw it is proven not started', async () => {
  const { tabId, page } = await stage.open('/never');
  await stage.call(tabId, 'iso.echo').outcome;
  const from = stage.relay.got.length;
  const id = 'f'.repeat(32);
  stage.relay.send({ type: 'ask', calls: [{ id, tabId }] });
  const { frame } = await stage.relay.wait((one) => one.type === 'state' && one.id === id, from);
  assert.equal(frame.state, 'not_started');
  await page.close();
});

test('the same call twice runs once', async () => {
  const { tabId, page } = await stage.open('/twice');
  stage.relay.autoAck = false;
  const call = stage.call(tabId, 'iso.sleep', { ms: 100, path: '/hit/twice' }, { write: true });
  const { frame } = await call.started;
  stage.relay.send({ ...frame, type: 'call' });
  await call.outcome;
  const from = stage.relay.got.length;
  stage.relay.socket?.terminate(); // not acknowledged: it comes again
  const again = await stage.relay.wait((one) => one.type === 'outcome' && one.id === call.id, from);
  assert.equal(again.payload, '{"slept":100}');
  stage.relay.autoAck = true;
  stage.relay.send({ type: 'ack', ids: [call.id] });
  assert.equal(stage.hits.get('/hit/twice'), 1);
  await page.close();
});
