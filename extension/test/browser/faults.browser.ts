import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { quickest } from './patience.ts';
import { type Stage, setStage } from './stage.ts';

let stage: Stage;
before(async () => {
  stage = await setStage();
});
after(() => stage?.close());

const text = JSON.stringify;

// Connects the extension anew, to a relay that gives pages so long to begin with a tool.
async function giving(startMs: number): Promise<void> {
  stage.relay.startMs = startMs;
  const from = stage.relay.got.length;
  stage.relay.socket?.terminate();
  await stage.relay.wait((frame) => frame.type === 'tabs', from);
}

for (const world of ['iso', 'main']) {
  for (const write of [false, true]) {
    test(`${world}: a ${write ? 'write' : 'read'} outlives its worker`, async () => {
      const { tabId, page } = await stage.open(`/${world}/${write}/death`);
      await stage.call(tabId, `${world}.echo`).outcome;
      // The link is back within a second, while the call runs, and the outcome is a second late at the most.
      const sleep = 2500;
      const took = await quickest(1000, async (n) => {
        const path = `/hit/${world}/${write}/${n}`;
        const sent = performance.now();
        const call = stage.call(tabId, `${world}.sleep`, { ms: sleep, path }, { write });
        await call.started;
        const { connections } = stage.relay;
        const from = stage.relay.got.length;
        const stopped = performance.now();
        await stage.stopWorker();
        await stage.relay.wait((frame) => frame.type === 'tabs', from);
        const linked = performance.now() - stopped;
        stage.relay.send({ type: 'ask', calls: [{ id: call.id, tabId }] });
        const { frame } = await stage.relay.wait((one) => one.type === 'state' && one.id === call.id, from);
        if (performance.now() - sent < sleep) assert.equal(frame.state, 'running');
        const { payload, ms } = await call.outcome;
        assert.equal(payload, `{"slept":${sleep}}`);
        assert.equal(stage.relay.connections, connections + 1);
        assert.equal(stage.hits.get(path), 1);
        return Math.max(linked, ms - sleep);
      });
      assert.ok(took < 1000, `${took} ms`);
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
    const took = await quickest(700, async () => {
      const { tabId, page } = await stage.open(`/${world}/close`);
      const call = stage.call(tabId, `${world}.sleep`, { ms: 20_000 }, { write: true });
      await call.started;
      const begun = performance.now();
      await page.close();
      const { frame } = await call.outcome;
      assert.match(text(frame.refusal), /TAB_CLOSED.*unknown/);
      return performance.now() - begun;
    });
    assert.ok(took < 700, `${took} ms`);
  });

  test(`${world}: leaving the page ends the call`, async () => {
    const { tabId, page } = await stage.open(`/${world}/leave`);
    const took = await quickest(700, async (n) => {
      if (n > 0) await page.goto(`${stage.origin}/${world}/leave`);
      const call = stage.call(tabId, `${world}.sleep`, { ms: 20_000 }, { write: true });
      await call.started;
      const begun = performance.now();
      await page.goto(`${stage.origin}/${world}/elsewhere`);
      const { frame } = await call.outcome;
      assert.match(text(frame.refusal), /TAB_CHANGED.*unknown/);
      return performance.now() - begun;
    });
    assert.ok(took < 700, `${took} ms`);
    assert.equal(
      (await stage.call(tabId, `${world}.title`).outcome).payload,
      `{"title":"/${world}/elsewhere"}`,
    );
    await page.goBack(); // from the back/forward cache, whose ports Chrome has closed
    assert.equal((await stage.call(tabId, `${world}.title`).outcome).payload, `{"title":"/${world}/leave"}`);
    await page.close();
  });

  test(`${world}: a page that is busy is unresponsive, and never starts the call later`, async () => {
    const { tabId, page } = await stage.open(`/${world}/busy`);
    await stage.call(tabId, `${world}.echo`).outcome;
    const path = `/hit/${world}/busy`;
    await giving(2000);
    const took = await quickest(2600, async () => {
      const begins = page.waitForEvent('console'); // its last word
      const busy = page.evaluate(() => {
        console.log(0);
        const end = Date.now() + 6000;
        while (Date.now() < end);
      });
      await begins;
      const { frame, ms } = await stage.call(tabId, `${world}.sleep`, { ms: 1, path }, { write: true })
        .outcome;
      assert.match(text(frame.refusal), /TAB_UNRESPONSIVE.*unknown/);
      await busy;
      return ms;
    });
    assert.ok(took < 2600, `${took} ms`);
    await giving(30_000);
    assert.equal((await stage.call(tabId, `${world}.echo`, { alive: 1 }).outcome).payload, '{"alive":1}');
    assert.equal(stage.hits.get(path), undefined);
    await page.close();
  });

  test(`${world}: a dialog makes the page unresponsive`, async () => {
    const { tabId, page } = await stage.open(`/${world}/dialog`);
    await stage.call(tabId, `${world}.echo`).outcome;
    const shown = page.waitForEvent('dialog');
    page.evaluate(() => setTimeout(() => alert('hello')));
    const dialog = await shown;
    await giving(2000);
    const { frame } = await stage.call(tabId, `${world}.echo`).outcome;
    assert.match(text(frame.refusal), /TAB_UNRESPONSIVE/);
    await dialog.accept();
    await giving(30_000);
    assert.equal((await stage.call(tabId, `${world}.echo`, { a: 1 }).outcome).payload, '{"a":1}');
    await page.close();
  });
}

test('a write that was given up keeps later writes away, not reads', async () => {
  const { tabId, page } = await stage.open('/given-up');
  const write = { write: true };
  const took = await quickest(2500, async () => {
    const call = stage.call(
      tabId,
      'iso.stubborn',
      { ms: 7000 },
      { ...write, timeoutMs: 1000, maxTimeoutMs: 1000 },
    );
    assert.match(text((await call.outcome).frame.refusal), /TIMEOUT.*unknown/);
    const busy = stage.call(tabId, 'iso.echo', { n: 1 }, write);
    assert.equal((await stage.call(tabId, 'iso.echo', { n: 2 }).outcome).payload, '{"n":2}');
    const { frame, ms } = await busy.outcome;
    assert.match(text(frame.refusal), /TAB_BUSY.*not_executed/);
    // The handler's own end frees the tab, and says what became of the call.
    const own = await stage.relay.wait((one) => one.id === call.id && one.status === 'returned', 0);
    assert.equal(own.payload, '{"slept":7000}');
    return ms;
  });
  assert.ok(took > 1500 && took < 2500, `${took} ms`);
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
  const linked = await quickest(1500, async () => {
    const from = stage.relay.got.length;
    const stopped = performance.now();
    await stage.stopWorker();
    await stage.relay.wait((frame) => frame.type === 'tabs', from);
    return performance.now() - stopped;
  });
  assert.ok(linked < 1500, `link back after ${linked} ms`);
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
