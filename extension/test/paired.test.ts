import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Paired } from '../src/worker/link/paired.ts';

test('a read that began before the person paired again does not bring back that they had ended it', async (t) => {
  let release = (_answer: object) => {};
  const held = new Promise<object>((resolve) => {
    release = resolve;
  });
  const answers: Promise<object>[] = [held, Promise.resolve({ unpaired: false })];
  const get = (key: string) =>
    key === 'unpaired' ? (answers.shift() ?? Promise.resolve({})) : Promise.resolve({});
  const before = Reflect.get(globalThis, 'chrome');
  const pairing = JSON.stringify({ address: '127.0.0.1:7717', secret: 'ab'.repeat(32) });
  const getURL = () => `data:application/json,${pairing}`;
  Reflect.set(globalThis, 'chrome', { storage: { local: { get } }, runtime: { getURL } });
  t.after(() => Reflect.set(globalThis, 'chrome', before));

  const program = { possible: false, find: async () => undefined, forget: () => {} };
  const paired = new Paired(() => {}, program);
  const early = paired.read();
  const late = await paired.read();
  release({ unpaired: true });
  assert.equal(await early, undefined);
  assert.equal(paired.state.ended, false);
  assert.equal(late?.address, '127.0.0.1:7717');
});
