import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageOf } from '@tabrelay/plugin-sdk/paging';

const all = ['a', 'b', 'c', 'd', 'e'];

test('a part says where the next one begins, and the last one does not', () => {
  assert.deepEqual(pageOf(all, { limit: 2, offset: 0 }), {
    items: ['a', 'b'],
    paging: { total: 5, nextOffset: 2 },
  });
  assert.deepEqual(pageOf(all, { limit: 2, offset: 4 }), { items: ['e'], paging: { total: 5 } });
  assert.deepEqual(pageOf(all, { limit: 5, offset: 0 }), { items: all, paging: { total: 5 } });
});

test('the parts together are the list', () => {
  const read: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const part: ReturnType<typeof pageOf<string>> = pageOf(all, { limit: 2, offset });
    read.push(...part.items);
    offset = part.paging.nextOffset;
  }
  assert.deepEqual(read, all);
});

test('behind the end, and in an empty list, there is nothing and no more', () => {
  assert.deepEqual(pageOf(all, { limit: 2, offset: 9 }), { items: [], paging: { total: 5 } });
  assert.deepEqual(pageOf([], { limit: 2, offset: 0 }), { items: [], paging: { total: 0 } });
});
