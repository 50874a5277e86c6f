import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  cut,
  describe,
  eachReason,
  fitsIn,
  legible,
  serialiseThrown,
  serialiseValue,
  utf8Length,
} from '../src/page/serialise.ts';

const internal = { code: 'INTERNAL_ERROR', category: 'internal', retryable: false };
const plain = (value: object) => JSON.parse(JSON.stringify(value));

test('the length in UTF-8 is counted without encoding', () => {
  for (const text of ['', 'abc', 'ü', '€', '𝄞', 'a\u{1F600}ß']) {
    assert.equal(utf8Length(text), Buffer.byteLength(text), text);
  }
});

test('a text is measured only where its length leaves a doubt', () => {
  assert.equal(fitsIn('ä'.repeat(50), 100), true);
  assert.equal(fitsIn('ä'.repeat(51), 100), false);
  assert.equal(fitsIn('a'.repeat(101), 100), false);
});

test('a text is cut so that even its escapes fit', () => {
  assert.equal(cut('short', 100), 'short');
  assert.ok(JSON.stringify(cut('\u0001'.repeat(100_000), 1000)).length <= 1000);
  assert.ok(JSON.stringify(cut('x'.repeat(1 << 20), 32_768)).length <= 32_768);
});

test('an object with a string code is a ToolError, whoever made it', () => {
  const thrown = {
    code: 'BAD',
    category: 7,
    retryable: 'yes',
    retryAfterMs: -1,
    message: 'm',
    stack: 'secret',
  };
  assert.deepEqual(plain(serialiseThrown(thrown)), {
    code: 'BAD',
    category: 7,
    retryable: 'yes',
    retryAfterMs: -1,
    message: 'm',
  });
  const odd = { code: 'ODD', retryAfterMs: Number.NaN, outcome: { a: 1 }, message: 'm' };
  assert.deepEqual(plain(serialiseThrown(odd)), {
    code: 'ODD',
    retryAfterMs: 'NaN',
    outcome: '[object]',
    message: 'm',
  });
});

test('a message that is cut says how long it was', () => {
  const long = 'ä'.repeat(5_000_000);
  const said = plain(serialiseThrown(new Error(long)));
  assert.equal(said.messageBytes, 10_000_000);
  assert.ok(JSON.stringify(said.message).length <= 32_768);
  assert.equal(plain(serialiseThrown({ code: 'LONG', message: long })).messageBytes, 10_000_000);
  assert.equal('messageBytes' in serialiseThrown(new Error('short')), false);
});

test('anything else is an internal error with its message', () => {
  assert.deepEqual(serialiseThrown(new TypeError('no')), { ...internal, message: 'no' });
  assert.deepEqual(serialiseThrown('text'), { ...internal, message: 'text' });
  assert.deepEqual(serialiseThrown(undefined), { ...internal, message: 'undefined' });
  assert.deepEqual(serialiseThrown({ code: 12, message: 'x' }), { ...internal, message: 'x' });
  const trap = {
    get code() {
      throw new Error('trap');
    },
    toString() {
      throw new Error('trap');
    },
  };
  assert.equal(serialiseThrown(trap).code, 'INTERNAL_ERROR');
});

test('a value that is not JSON says why', () => {
  assert.deepEqual(serialiseValue({ a: 1 }), { text: '{"a":1}' });
  assert.deepEqual(serialiseValue(undefined), { text: 'null' });
  assert.deepEqual(
    serialiseValue(() => 1),
    { problem: 'a function has no JSON form' },
  );
  assert.ok('problem' in serialiseValue(1n));
});

test('a field whose getter throws is missing, and the code stays', () => {
  const thrown = {
    code: 'KEPT',
    category: 'auth',
    get retryable() {
      throw new Error('trap');
    },
    get message() {
      throw new Error('trap');
    },
  };
  assert.deepEqual(plain(serialiseThrown(thrown)), {
    code: 'KEPT',
    category: 'auth',
    message: 'The tool threw a value that cannot be shown',
  });
});

test('what a page hung on the prototypes of plain data changes no answer', () => {
  const hang = (prototype: object, name: string, value: unknown) =>
    Object.defineProperty(prototype, name, { value, configurable: true, enumerable: false, writable: true });
  const forged = () => 'forged';
  const hosts = [Object.prototype, Array.prototype, String.prototype, Number.prototype, Boolean.prototype];
  try {
    for (const host of hosts) hang(host, 'toJSON', forged);
    hang(Object.prototype, 'get', () => 1); // makes every plain object a broken property descriptor
    assert.deepEqual(serialiseValue({ list: [1, 'a', true], at: new Date(0) }), {
      text: '{"list":[1,"a",true],"at":"1970-01-01T00:00:00.000Z"}',
    });
    for (const host of hosts) assert.equal(Reflect.get(host, 'toJSON'), forged);
  } finally {
    Reflect.deleteProperty(Object.prototype, 'get');
    for (const host of hosts) Reflect.deleteProperty(host, 'toJSON');
  }
});

test("a code that a page hung on a built-in prototype is nobody's", () => {
  class Own extends Error {
    get code() {
      return 'OWN';
    }
  }
  Reflect.defineProperty(Error.prototype, 'code', { value: 'FORGED', configurable: true });
  Reflect.defineProperty(Object.prototype, 'retryable', { value: true, configurable: true });
  try {
    assert.equal(serialiseThrown(new TypeError('plain')).code, 'INTERNAL_ERROR');
    assert.equal(serialiseThrown(new DOMException('gone', 'AbortError')).message, 'gone');
    const own = serialiseThrown(new Own('mine'));
    assert.equal(own.code, 'OWN');
    assert.equal(Object.hasOwn(own, 'retryable'), false);
  } finally {
    Reflect.deleteProperty(Error.prototype, 'code');
    Reflect.deleteProperty(Object.prototype, 'retryable');
  }
});

test('what JSON has no form for is put into words', () => {
  const loop: Record<string, unknown> = { count: 5n, f() {}, when: new Date(0) };
  loop.self = loop;
  assert.equal(
    legible(loop),
    '{"count":"5n","f":"[function]","when":"1970-01-01T00:00:00.000Z","self":"[see above]"}',
  );
  assert.equal(legible(Symbol('s')), '"Symbol(s)"');
  const trap = {
    get a() {
      throw new Error('trap');
    },
    toString() {
      throw new Error('trap');
    },
  };
  assert.equal(legible(trap), '[unprintable]');
});

test('what a page puts between plain data and its prototype leaves no answer at all', () => {
  class Between {
    toJSON(): string {
      return 'forged';
    }
  }
  const parent: unknown = Object.getPrototypeOf(Array.prototype);
  try {
    Object.setPrototypeOf(Array.prototype, new Between());
    assert.match(JSON.stringify(plain(serialiseValue({ list: [1] }))), /problem.*inherits from/);
    assert.deepEqual(serialiseValue('text'), { text: '"text"' });
  } finally {
    if (typeof parent === 'object') Object.setPrototypeOf(Array.prototype, parent);
  }
});

test('type, hint and data stay fields of their own, within limits', () => {
  const thrown = { code: 'X', message: 'm', type: 'file_error', hint: 'Close it.', data: { size: 3 } };
  assert.deepEqual(plain(serialiseThrown(thrown)), { ...thrown, data: '{"size":3}' });
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  for (const [data, kept] of [
    [undefined, undefined],
    [null, 'null'],
    [cycle, 'data that cannot be shown'],
    [1n, 'data that cannot be shown'],
  ]) {
    assert.equal(serialiseThrown({ code: 'X', message: 'm', data }).data, kept);
  }
  const large = serialiseThrown({ code: 'X', message: 'm', data: ['x'.repeat(20_000)] }).data;
  assert.ok(typeof large === 'string' && large.length > 8_000 && large.length <= 16_384);
});

test('what was thrown without a message says what it is', () => {
  const said = (thrown: unknown) => serialiseThrown(thrown).message;
  assert.equal(said({ error: 'bad', status: 4 }), '{"error":"bad","status":4}');
  const request = { headers: { authorization: 'Bearer secret' }, token: 'secret' };
  assert.equal(said({ status: 4, error: request, ...request }), '{"status":4}');
  assert.equal(said(request), 'The tool threw an object without a message');
  assert.ok(String(said({ error: 'x'.repeat(5000) })).length < 400);
  assert.equal(said({}), 'The tool threw an object without a message');
  assert.equal(said(Promise.resolve(1)), 'The tool threw a Promise without a message');
  assert.equal(said(new Response('x')), 'The tool threw a Response without a message');
  assert.equal(said(new Event('error')), 'The tool threw an Event without a message');
  assert.equal(said('no tea'), 'no tea');
  assert.equal(said(undefined), 'undefined');
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  assert.equal(said(loop), 'The tool threw an object without a message');
});

test('the reasons of an error are its causes, and what it stands for', () => {
  const reasons = (thrown: unknown): string[] => {
    const found: string[] = [];
    eachReason(thrown, (what, reason) => found.push(`${what} ${describe(reason)}`));
    return found;
  };
  const both = new AggregateError([new TypeError('one'), 'two'], 'both', { cause: new Error('root') });
  assert.deepEqual(reasons(both), [
    'It stands for TypeError: one',
    'It stands for two',
    'It was caused by Error: root',
  ]);
  const loop = new Error('round');
  loop.cause = loop;
  assert.equal(reasons(loop).length, 5);
  assert.deepEqual(reasons(undefined), []);
  assert.deepEqual(reasons(new Error('alone')), []);
});
