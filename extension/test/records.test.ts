import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Records } from '../src/worker/calls/records.ts';
import type { SessionStore } from '../src/worker/util/store.ts';

function memory(items: Record<string, unknown> = {}): SessionStore & { items: Record<string, unknown> } {
  return {
    items,
    get: async () => ({ ...items }),
    set: async (more) => void Object.assign(items, structuredClone(more)),
    remove: async (keys) => {
      for (const key of keys) delete items[key];
    },
  };
}

const place = { tabId: 1, documentId: 'D', frameId: 0 };

test('the epoch is made once and survives the worker', async () => {
  const store = memory();
  const first = new Records(store);
  await first.loaded;
  assert.match(first.epoch, /^[0-9a-f]{32}$/);
  const second = new Records(store);
  await second.loaded;
  assert.equal(second.epoch, first.epoch);
  const elsewhere = new Records(memory());
  await elsewhere.loaded;
  assert.notEqual(elsewhere.epoch, first.epoch);
});

test('a seen call and its outcome survive, until they are acknowledged', async () => {
  const store = memory();
  const before = new Records(store);
  await before.loaded;
  await before.recordSent('a', place);
  await before.recordSent('b', { ...place, tabId: 2 });
  before.recordOutcome('a', 'outcome of a');
  const after = new Records(store);
  await after.loaded;
  assert.deepEqual(after.get('b'), { ...place, tabId: 2 });
  assert.deepEqual([...after.outcomes()], [['a', 'outcome of a']]);
  after.forget(['a', 'b', 'never seen']);
  assert.deepEqual(Object.keys(store.items), ['epoch']);
});

test('a read leaves no trace', async () => {
  const store = memory();
  const records = new Records(store);
  await records.loaded;
  records.recordOutcome('read', 'outcome');
  assert.deepEqual(Object.keys(store.items), ['epoch']);
});

test('large outcomes, and more than 4 MiB of them, stay in the page', async () => {
  const store = memory();
  const records = new Records(store);
  await records.loaded;
  await records.recordSent('large', place);
  records.recordOutcome('large', 'x'.repeat(65 * 1024));
  assert.equal([...records.outcomes()].length, 0);
  for (let i = 0; i < 70; i++) {
    await records.recordSent(`call ${i}`, place);
    records.recordOutcome(`call ${i}`, 'x'.repeat(64 * 1024));
  }
  assert.equal([...records.outcomes()].length, 64);
  records.forget(['call 0']);
  records.recordOutcome('call 69', 'x'.repeat(64 * 1024));
  assert.equal([...records.outcomes()].length, 64);
});

test('what is no record in the store is left alone', async () => {
  const records = new Records(memory({ 'call:bad': { tabId: 'x' }, history: [1], epoch: 'e'.repeat(32) }));
  await records.loaded;
  assert.equal(records.get('bad'), undefined);
  assert.equal(records.epoch, 'e'.repeat(32));
});
