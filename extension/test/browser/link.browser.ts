import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { until } from './patience.ts';
import { TestRelay } from './relay.ts';
import { pluginList, type Stage, setStage } from './stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await setStage(undefined, { permissions: ['offscreen'] });
});
afterEach(() => stage?.close());

test('a program that cannot prove the secret learns nothing, and is not dialled again', async () => {
  const squatter = new TestRelay(stage.relay.extensionId);
  squatter.sendWrongProof = true;
  await squatter.listen();
  writeFileSync(join(stage.folder, 'pairing.json'), squatter.pairing);
  stage.relay.close();
  const { frame } = await squatter.wait((one) => one.type === 'hello', 0);
  assert.deepEqual(Object.keys(frame).sort(), [
    'bundle',
    'chrome',
    'epoch',
    'extension',
    'nonce',
    'profile',
    'protocol',
    'type',
  ]);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  assert.deepEqual(
    squatter.got.map((one) => one.frame.type),
    ['hello'],
  );
  squatter.close();
});

test('a relay that moved to another port is found through pairing.json', async () => {
  const { tabId } = await stage.open('/moved');
  await stage.call(tabId, 'iso.echo').outcome;
  const next = new TestRelay(stage.relay.extensionId);
  next.plugins = pluginList(stage.origin);
  await next.listen();
  writeFileSync(join(stage.folder, 'pairing.json'), next.pairing);
  stage.relay.close();
  await next.wait((one) => one.type === 'tabs', 0);
  next.close();
});

test('an outcome that the relay missed comes again after it returned', async () => {
  const { tabId } = await stage.open('/missed');
  for (const [tool, write] of [
    ['iso', false],
    ['main', true],
  ] as const) {
    await stage.call(tabId, `${tool}.echo`).outcome;
    const path = `/held/${tool}`;
    const call = stage.call(tabId, `${tool}.sleep`, { ms: 300, path }, { write });
    await until(async () => stage.hits.has(path), 'the tool did not begin');
    const from = stage.relay.got.length;
    stage.relay.socket?.terminate();
    stage.release();
    assert.equal((await call.outcome).payload, '{"slept":300}');
    assert.ok(stage.relay.got.slice(from).some((one) => one.frame.type === 'hello'));
    assert.equal(stage.hits.get(path), 1);
  }
});

test('an extension whose relay has newer files reloads itself once, and bridges come back', async () => {
  const { tabId } = await stage.open('/renew');
  await stage.call(tabId, 'iso.echo').outcome;
  const epoch = stage.relay.got.find((one) => one.frame.type === 'hello')?.frame.epoch;
  const from = stage.relay.got.length;
  stage.relay.bundle = 'c'.repeat(64);
  stage.relay.socket?.terminate();
  const changed = await stage.relay.wait((one) => one.type === 'hello' && one.epoch !== epoch, from);
  assert.ok(changed);
  await stage.relay.wait((one) => one.type === 'tabs', stage.relay.got.indexOf(changed));
  const again = await stage.call(tabId, 'iso.echo', { a: 1 }).outcome;
  assert.equal(again.payload, '{"a":1}', JSON.stringify(again.frame));
  const late = await stage.call(tabId, 'main.echo', { a: 1 }).outcome;
  assert.equal(late.payload, '{"a":1}');
  assert.equal(late.frame.trust, 'late');
  const hellos = stage.relay.got.filter((one) => one.frame.type === 'hello').length;
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.equal(stage.relay.got.filter((one) => one.frame.type === 'hello').length, hellos);
});

test('the relay may open and show tabs, and nothing else', async () => {
  const ask = async (name: string, params: object) => {
    const id = `${'0'.repeat(24)}${Math.random().toString(16).slice(2, 10).padEnd(8, '0')}`;
    const from = stage.relay.got.length;
    stage.relay.send({ type: 'command', id, name, params });
    return (await stage.relay.wait((one) => one.type === 'reply' && one.id === id, from)).frame;
  };
  const made = await ask('tabs.create', { url: `${stage.origin}/made`, active: false });
  assert.equal(made.ok, true);
  const bad = await ask('tabs.create', { url: 'javascript:alert(1)' });
  assert.match(JSON.stringify(bad.error), /VALIDATION_ERROR/);
  const none = await ask('tabs.activate', { tabId: 999_999 });
  assert.match(JSON.stringify(none.error), /TAB_NOT_FOUND/);
});

// A worker that is just being stopped says nothing.
const waker = async (): Promise<boolean | undefined> =>
  (await stage.worker()).evaluate(() => chrome.offscreen.hasDocument()).catch(() => undefined);

const wakerIs = (wanted: boolean): Promise<void> =>
  until(
    async () => (await waker()) === wanted,
    `the document without a window is ${wanted ? 'missing' : 'still there'}`,
  );

// Chrome stops workers when it likes, and an alarm would wake this one within half a minute only.
test('where no page has a bridge, a document without a window brings a worker back that was stopped', async () => {
  await wakerIs(true);
  await stage.clearAlarms();
  const from = stage.relay.got.length;
  await stage.stopWorker();
  await stage.relay.wait(({ type }) => type === 'tabs', from);
});

test('a page with a bridge is enough, so the document without a window goes, and comes back after it', async () => {
  await wakerIs(true);
  const { page } = await stage.open('/bridged');
  await wakerIs(false);
  await page.close();
  await wakerIs(true);
});

test('the first click in the panel brings that document, without a question', async () => {
  await stage.close();
  stage = await setStage();
  const allowed = async () =>
    (await stage.worker()).evaluate(() => chrome.permissions.contains({ permissions: ['offscreen'] }));
  assert.equal(await allowed(), false);
  const panel = await stage.browser.newPage();
  await panel.goto(`chrome-extension://${stage.relay.extensionId}/panel.html`);
  await panel.locator('#panel').click();
  await wakerIs(true);
  assert.equal(await allowed(), true);
});
