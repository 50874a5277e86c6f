import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolError } from '@tabrelay/plugin-sdk';
import { listPage, listPart, type TextPart, textPage } from '@tabrelay/plugin-sdk/paging';

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** Chances that are the same in every run. */
function chances(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

// One byte, escaped to two and to six, two and three bytes, surrogate pairs, halves of them, separators.
const letters = [
  'a',
  ' ',
  '"',
  '\\',
  '\n',
  '\u0001',
  'é',
  '€',
  '茶',
  '😀',
  '𝄞',
  '\ud83d',
  '\udc00',
  '\u2028',
  '</',
];

const textOf = (pick: (below: number) => number, length: number) =>
  Array.from({ length }, () => letters[pick(letters.length)] ?? '').join('');

test('the parts of a text are the text, and each fills its answer and no more', () => {
  const pick = chances(7);
  for (let round = 0; round < 150; round++) {
    const source = textOf(pick, pick(400));
    const whole = source.replaceAll(/\p{Cs}/gu, '\ufffd');
    const maxBytes = 90 + pick(round % 3 === 0 ? 30 : 4000);
    const maxChars = pick(2) === 0 ? 100_000 : 1 + pick(50);
    const title = textOf(pick, pick(5)).replaceAll(/\p{Cs}/gu, '');
    let read = '';
    for (let offset: number | undefined = 0, parts = 0; offset !== undefined; parts++) {
      assert.ok(parts <= whole.length, 'it makes no progress');
      const answer = (part: TextPart) => ({ title, ...part });
      const page: ReturnType<typeof answer> = textPage(source, { offset, maxChars, maxBytes }, answer);
      assert.ok(bytesOf(page) <= maxBytes, `${bytesOf(page)} bytes of ${maxBytes}`);
      assert.equal(page.totalChars, whole.length);
      const next = page.nextOffset;
      if (next !== undefined) {
        assert.equal(next, offset + page.text.length);
        const more = String.fromCodePoint(whole.codePointAt(next) ?? 0);
        const longer = { ...page, text: page.text + more, nextOffset: next + more.length };
        const full = bytesOf(longer) > maxBytes || page.text.length + more.length > maxChars;
        assert.ok(full, `${bytesOf(page)} bytes of ${maxBytes}, and the next character would fit`);
      }
      read += page.text;
      offset = next;
    }
    assert.equal(read, whole);
  }
});

test('without a size from the relay its default counts', () => {
  const page = textPage('茶'.repeat(50_000), { offset: 0, maxChars: 100_000 }, (part) => part);
  assert.ok(bytesOf(page) <= 32_768 && bytesOf(page) > 32_760, String(bytesOf(page)));
});

test('a size that has no room for one character is an error that says what is needed', () => {
  const read = (maxBytes: number) => textPage('ab', { offset: 0, maxChars: 10, maxBytes }, (part) => part);
  assert.throws(
    () => read(20),
    (error: unknown) => {
      assert.ok(error instanceof ToolError);
      assert.deepEqual([error.code, error.category], ['OUTPUT_TOO_LARGE', 'validation']);
      const [, least] = /at least (\d+)/.exec(error.hint ?? '') ?? [];
      assert.equal(read(Number(least)).text.length >= 1, true);
      return true;
    },
  );
});

test('an offset inside a pair, or behind the end', () => {
  assert.deepEqual(
    textPage('a😀b', { offset: 2, maxChars: 1 }, (part) => part),
    { text: '😀', totalChars: 4, nextOffset: 3 },
  );
  assert.deepEqual(
    textPage('ab', { offset: 9, maxChars: 5 }, (part) => part),
    { text: '', totalChars: 2 },
  );
  assert.deepEqual(
    textPage('', { offset: 0, maxChars: 5 }, (part) => part),
    { text: '', totalChars: 0 },
  );
});

const all = ['a', 'b', 'c', 'd', 'e'];
const entries = (items: string[], paging: object) => ({ items, ...paging });

test('a part of a list says where the next one begins, and the last one does not', () => {
  assert.deepEqual(listPage(all, { limit: 2, offset: 0 }, entries), {
    items: ['a', 'b'],
    total: 5,
    nextOffset: 2,
  });
  assert.deepEqual(listPage(all, { limit: 2, offset: 4 }, entries), { items: ['e'], total: 5 });
  assert.deepEqual(listPage(all, { limit: 5, offset: 0 }, entries), { items: all, total: 5 });
  assert.deepEqual(listPage(all, { limit: 2, offset: 9 }, entries), { items: [], total: 5 });
  assert.deepEqual(listPage([], { limit: 2, offset: 0 }, entries), { items: [], total: 0 });
});

test('what an application gave of a list goes on where it ended', () => {
  assert.deepEqual(listPart(['c', 'd'], { offset: 2, total: 5 }, entries), {
    items: ['c', 'd'],
    total: 5,
    nextOffset: 4,
  });
  assert.deepEqual(listPart([], { offset: 2, total: 5 }, entries), { items: [], total: 5 });
});

test('the parts of a list are the list, and each fills its answer and no more', () => {
  const pick = chances(11);
  for (let round = 0; round < 100; round++) {
    const list = Array.from({ length: pick(60) }, () => textOf(pick, pick(30)).replaceAll(/\p{Cs}/gu, ''));
    const maxBytes = 60 + pick(1500);
    const limit = 1 + pick(70);
    const read: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const answer = (items: string[], paging: { total: number; nextOffset?: number }) => ({
        items,
        ...paging,
      });
      const page: ReturnType<typeof answer> = listPage(list, { limit, offset, maxBytes }, answer);
      const { length } = page.items;
      assert.ok(bytesOf(page) <= maxBytes || length === 1, `${bytesOf(page)} bytes of ${maxBytes}`);
      if (page.nextOffset !== undefined) {
        const longer = {
          ...page,
          items: [...page.items, list[offset + length]],
          nextOffset: offset + length + 1,
        };
        assert.ok(length === limit || bytesOf(longer) > maxBytes, 'the next entry would fit');
      }
      read.push(...page.items);
      offset = page.nextOffset;
    }
    assert.deepEqual(read, list);
  }
});

test('an entry that is too large by itself is answered alone', () => {
  const page = listPage(['x'.repeat(200), 'y'], { limit: 5, offset: 0, maxBytes: 100 }, entries);
  assert.deepEqual(page, { items: ['x'.repeat(200)], total: 2, nextOffset: 1 });
});

test('half a pair in a list leaves room for what the relay says about it', () => {
  const page = listPage(
    Array.from({ length: 50 }, () => '\ud800'),
    { limit: 50, offset: 0, maxBytes: 400 },
    entries,
  );
  assert.ok(bytesOf(page) <= 200, String(bytesOf(page)));
});
