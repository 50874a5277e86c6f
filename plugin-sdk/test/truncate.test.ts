import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildQueryString, ok, stripUndefined, truncate } from '../src/index.ts';

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

const loneSurrogate = /\p{Cs}/u;

test('what fits is left as it is', () => {
  assert.deepEqual(truncate([1, 2]), { result: [1, 2], truncated: false, kept: 2, total: 2 });
  assert.deepEqual(truncate({ a: 1 }), { result: { a: 1 }, truncated: false, kept: 1, total: 1 });
  assert.deepEqual(truncate('tea'), { result: 'tea', truncated: false, kept: 3, total: 3 });
});

test('a list keeps as many items as fit, and says where to go on', () => {
  const items = Array.from({ length: 100 }, (_, i) => `item ${i}`);
  const first = truncate(items, { maxBytes: 100 });
  assert.ok(bytes(first.result) <= 100);
  assert.deepEqual([first.truncated, first.kept, first.total, first.nextOffset], [true, 10, 100, 10]);
  const last = truncate(items, { maxBytes: 100, offset: 95 });
  assert.deepEqual(last, {
    result: items.slice(95),
    truncated: true,
    kept: 5,
    total: 100,
  });
});

test('the list may be inside, by its path or under "results"', () => {
  const items = Array.from({ length: 50 }, (_, i) => i);
  const inside = truncate({ name: 'x', data: { items } }, { maxBytes: 60, arrayPath: '.data.items' });
  assert.ok(inside.truncated && bytes(inside.result) <= 60);
  assert.match(JSON.stringify(inside.result), /^{"name":"x","data":{"items":\[0,1,/);
  assert.ok(truncate({ results: items }, { maxBytes: 60 }).truncated);
});

test('a text is cut between characters', () => {
  const text = 'tea 🍵'.repeat(100);
  for (let maxBytes = 40; maxBytes < 60; maxBytes++) {
    const { result, kept, total, nextOffset } = truncate(text, { maxBytes });
    assert.ok(typeof result === 'string' && bytes(result) <= maxBytes);
    assert.ok(!loneSurrogate.test(result) && result.endsWith('…'));
    assert.deepEqual([result.length - 1, nextOffset, total], [kept, kept, text.length]);
  }
});

test('what cannot be shortened is refused by its name', () => {
  const refused = (code: string, value: unknown, options: Parameters<typeof truncate>[1]) =>
    assert.throws(() => truncate(value, options), { code, retryable: false });
  refused('OUTPUT_TOO_LARGE', { a: 'x'.repeat(100) }, { maxBytes: 50 });
  refused('OUTPUT_TOO_LARGE', { a: 'x'.repeat(100), results: [] }, { maxBytes: 50 });
  refused('INVALID_PATH_SYNTAX', {}, { arrayPath: 'items[0]' });
  refused('PATH_NOT_FOUND', { a: 1 }, { arrayPath: '.items' });
  refused('PATH_NOT_FOUND', {}, { arrayPath: '.constructor' });
  refused('INVALID_ARRAY_PATH', { items: 1 }, { arrayPath: '.items' });
});

test('ok wraps a result', () => {
  assert.deepEqual(ok(7), { success: true, result: 7 });
});

test('queries leave out what is missing and repeat lists', () => {
  assert.equal(
    buildQueryString({ q: 'a b&c', page: 2, all: true, none: undefined, nil: null, tag: ['x', 'y'] }),
    'q=a+b%26c&page=2&all=true&tag=x&tag=y',
  );
  assert.deepEqual(stripUndefined({ a: 1, b: undefined, c: null }), { a: 1, c: null });
});
