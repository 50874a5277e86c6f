import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Stage, setStage } from './stage.ts';

let stage: Stage;
before(async () => {
  stage = await setStage();
});
after(() => stage?.close());

const text = JSON.stringify;

for (const world of ['iso', 'main']) {
  for (const write of [false, true]) {
    test(`${world}: a ${write ? 'write' : 'read'} outlives its worker`, async () => {
      const { tabId, page } = await stage.open(`/${world}/${write}/death`);
      await stage.call(tabId, `${world}.echo`).outcome;
      const path = `/hit/${world}/${write}`;
      const call = stage.call(tabId, `${world}.sleep`, { ms: 1200, path }, { write });
      await call.started;
      const { connections } = stage.relay;
      const from = stage.relay.got.length;
      const stopped = performance.now();
      await stage.stopWorker();
      await stage.relay.wait((frame) => frame.type === 'tabs', 5000, from);
      const linked = performance.now() - stopped;
      stage.relay.send({ type: 'ask', calls: [{ id: call.id, tabId }] });
      const { frame } = await stage.relay.wait(
        (one) => one.type === 'state' && one.id === call.id,
        5000,
        from,
      );
      assert.equal(frame.state, 'running');
      const { payload, ms } = await call.outcome;
      assert.equal(payload, '{"slept":1200}');
      assert.ok(ms < 2000, `${ms} ms`);
      assert.ok(linked < 1000, `link back after ${linked} ms`);
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
      await stage.relay.wait((frame) => frame.type === 'tabs', 5000, from);
      stage.relay.send({ type: 'ask', calls: [{ id: call.id, tabId }] });
      assert.equal((await call.outcome).payload, '{"slept":40}');
      await page.close();
    });
  }

  test(`${world}: closing the tab ends the call`, async () => {
    const { tabId, page } = await stage.open(`/${world}/close`);
    const call = stage.call(tabId, `${world}.sleep`, { ms: 5000 }, { write: true });
    await call.started;
    const begun = performance.now();
    await page.close();
    const { frame } = await call.outcome;
    assert.match(text(frame.refusal), /TAB_CLOSED.*unknown/);
    assert.ok(performance.now() - begun < 700);
  });

  test(`${world}: leaving the page ends the call`, async () => {
    const { tabId, page } = await stage.open(`/${world}/leave`);
    const call = stage.call(tabId, `${world}.sleep`, { ms: 5000 }, { write: true });
    await call.started;
    const begun = performance.now();
    await page.goto(`${stage.origin}/${world}/elsewhere`);
    const { frame } = await call.outcome;
    assert.match(text(frame.refusal), /TAB_CHANGED.*unknown/);
    assert.ok(performance.now() - begun < 700);
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
    page.evaluate(() => {
      const end = Date.now() + 4000;
      while (Date.now() < end);
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const path = `/hit/${world}/busy`;
    const { frame, ms } = await stage.call(tabId, `${world}.sleep`, { ms: 1, path }, { write: true }).outcome;
    assert.match(text(frame.refusal), /TAB_UNRESPONSIVE.*unknown/);
    assert.ok(ms < 2600, `${ms} ms`);
    await page.waitForFunction(() => true);
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
    const { frame } = await stage.call(tabId, `${world}.echo`).outcome;
    assert.match(text(frame.refusal), /TAB_UNRESPONSIVE/);
    await dialog.accept();
    assert.equal((await stage.call(tabId, `${world}.echo`, { a: 1 }).outcome).payload, '{"a":1}');
    await page.close();
  });
}

test('a write that was given up keeps later writes away, not reads', async () => {
  const { tabId, page } = await stage.open('/given-up');
  const write = { write: true };
  const call = stage.call(
    tabId,
    'iso.stubborn',
    { ms: 3500 },
    { ...write, timeoutMs: 200, maxTimeoutMs: 200 },
  );
  assert.match(text((await call.outcome).frame.refusal), /TIMEOUT.*unknown/);
  const busy = stage.call(tabId, 'iso.echo', { n: 1 }, write);
  assert.equal((await stage.call(tabId, 'iso.echo', { n: 2 }).outcome).payload, '{"n":2}');
  const { frame, ms } = await busy.outcome;
  assert.match(text(frame.refusal), /TAB_BUSY.*not_executed/);
  assert.ok(ms > 1500 && ms < 2500, `${ms} ms`);
  // The handler's own end frees the tab, and says what became of the call.
  const own = await stage.relay.wait((one) => one.id === call.id && one.status === 'returned', 5000, 0);
  assert.equal(own.payload, '{"slept":3500}');
  assert.equal((await stage.call(tabId, 'iso.echo', { n: 3 }, write).outcome).payload, '{"n":3}');
  await page.close();
});

test('the worker comes back when only hidden tabs could wake it', async () => {
  const { tabId, page } = await stage.open('/hidden');
  await stage.call(tabId, 'iso.echo').outcome;
  const front = await stage.browser.newPage();
  await front.bringToFront();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const from = stage.relay.got.length;
  const stopped = performance.now();
  await stage.stopWorker();
  await stage.relay.wait((frame) => frame.type === 'tabs', 5000, from);
  const linked = performance.now() - stopped;
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
  const { frame } = await stage.relay.wait((one) => one.type === 'state' && one.id === id, 5000, from);
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
  const again = await stage.relay.wait((one) => one.type === 'outcome' && one.id === call.id, 5000, from);
  assert.equal(again.payload, '{"slept":100}');
  stage.relay.autoAck = true;
  stage.relay.send({ type: 'ack', ids: [call.id] });
  assert.equal(stage.hits.get('/hit/twice'), 1);
  await page.close();
});
