// An extension that was not loaded from a relay's folder, and the one-time string that pairs it.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { TestRelay } from './relay.ts';
import { type Stage, setStage } from './stage.ts';

const code = '00112233445566778899aabbccddeeff';
let stage: Stage;
beforeEach(async () => {
  stage = await setStage(undefined, { packed: true });
  stage.relay.code = code;
});
afterEach(() => stage?.close());

// Pastes a string into a panel, and waits until its state says what became of it. What a panel is told first is what
// became of the string before.
async function paste(text: string, phase: string, words = ''): Promise<string> {
  const panel = await stage.openPanel();
  await panel.evaluate((pasted) => {
    const port = chrome.runtime.connect({ name: 'panel' });
    port.onMessage.addListener((state: { pairing?: object }) => {
      if (state.pairing !== undefined) Object.assign(globalThis, { pairing: state.pairing });
    });
    port.postMessage({ type: 'pair', text: pasted });
  }, text);
  const handle = await panel.waitForFunction(
    (wanted) => {
      const { phase, message } = Reflect.get(globalThis, 'pairing') ?? {};
      const there = phase === wanted.phase && String(message ?? '').includes(wanted.words);
      return there ? String(message || ' ') : '';
    },
    { phase, words },
  );
  return handle.jsonValue();
}

test('it connects after the exchange, also after its worker was stopped, and no page can read what it keeps', async () => {
  assert.equal(stage.relay.connections, 0);
  await paste(`127.0.0.1:${stage.relay.port}/${code}`, 'done');
  await stage.relay.wait(({ type }) => type === 'tabs', 0);
  const kept = await (await stage.worker()).evaluate(() => chrome.storage.local.get('pairing'));
  assert.deepEqual(kept.pairing, JSON.parse(stage.relay.pairing));
  await stage.open('/page'); // its bridge wakes the worker
  const from = stage.relay.got.length;
  await stage.stopWorker();
  await (await stage.openPanel()).bringToFront();
  await stage.relay.wait(({ type }) => type === 'tabs', from);
});

test('a string that is wrong gives nothing, and is told in words', async () => {
  const from = stage.relay.got.length;
  assert.match(
    await paste(`127.0.0.1:${stage.relay.port}/${'f'.repeat(32)}`, 'failed'),
    /could not prove that it is the relay/,
  );
  assert.deepEqual(
    stage.relay.got.slice(from).map(({ frame }) => frame.type),
    ['hello'],
  );
  await paste('https://evil.example/', 'failed', 'not a pairing string');
  assert.equal(stage.relay.connections, 0);
});

test('a program that has the port in place of the relay is told nothing', async () => {
  const squatter = new TestRelay(stage.relay.extensionId);
  squatter.code = 'f'.repeat(32);
  await squatter.listen();
  await paste(`127.0.0.1:${squatter.port}/${code}`, 'failed');
  assert.deepEqual(
    squatter.got.map(({ frame }) => frame.type),
    ['hello'],
  );
  assert.ok(!JSON.stringify(squatter.got).includes(code));
  squatter.close();
});
