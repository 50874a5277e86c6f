import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolError } from '@tabrelay/plugin-sdk';
import { isObject, type JsonReader, jsonReader, parseJSON } from '@tabrelay/plugin-sdk/json';

const others = [undefined, null, true, 7, 'tea', [{ a: 1 }], { a: 1 }];

/** The failure of a reading: its path and what is wrong there. */
function problem(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof ToolError, String(error));
    assert.deepEqual([error.code, error.category, error.retryable], ['INVALID_RESPONSE', 'internal', false]);
    return error.message.replace("The site's answer is not what the plugin expects: ", '');
  }
  return assert.fail('it was read');
}

test('an object is neither a list nor null', () => {
  assert.deepEqual(others.filter(isObject), [{ a: 1 }]);
});

test('what is there is read, and nothing is converted', () => {
  const answer = jsonReader({
    query: { search: [{ title: 'Tea', words: 7, minor: false }], names: ['a', 'b'], none: null },
  });
  const [hit] = answer.list('query', 'search');
  assert.deepEqual([hit?.string('title'), hit?.number('words'), hit?.boolean('minor')], ['Tea', 7, false]);
  assert.deepEqual(answer.strings('query', 'names'), ['a', 'b']);
  assert.deepEqual(
    answer.entries('query').map(([name]) => name),
    ['search', 'names', 'none'],
  );
  assert.equal(answer.at('query', 'none').value, null);
  assert.deepEqual(jsonReader({ a: 1 }).object(), { a: 1 });
});

test('what is missing, or of another type, fails with its path', () => {
  const answer = jsonReader({ query: { search: [{}, { title: 7 }], 'X-Total': '9', names: ['a', 1] } });
  for (const [read, wrong] of [
    [() => answer.list('query', 'search')[0]?.string('title'), 'query.search[0].title is missing'],
    [
      () => answer.list('query', 'search')[1]?.string('title'),
      'query.search[1].title is a number, not a text',
    ],
    [() => answer.number('query', 'X-Total'), 'query["X-Total"] is a text, not a number'],
    [() => answer.strings('query', 'names'), 'query.names[1] is a number, not a text'],
    [() => answer.list('continue'), 'continue is missing'],
    [() => answer.list('query', 'search', 'x'), 'query.search is a list, not an object'],
    [() => answer.maybe('query', 'names', 'x'), 'query.names is a list, not an object'],
    [() => answer.string('toString'), 'toString is missing'],
    [() => answer.boolean('query'), 'query is an object, not true or false'],
    [() => answer.at('query').fail('is old'), 'query is old'],
  ] as const) {
    assert.equal(problem(read), wrong);
  }
});

test('a value of another type is never read as empty', () => {
  const reads: Record<string, (value: JsonReader) => unknown> = {
    string: (value) => value.string(),
    number: (value) => value.number(),
    boolean: (value) => value.boolean(),
    object: (value) => value.object(),
    entries: (value) => value.entries(),
    list: (value) => value.list(),
    strings: (value) => value.strings(),
    field: (value) => value.string('a'),
    optional: (value) => value.maybe('a'),
  };
  const taken = Object.entries(reads).map(([name, read]) => [
    name,
    others.filter((value) => {
      try {
        read(jsonReader(value));
        return true;
      } catch {
        return false;
      }
    }),
  ]);
  assert.deepEqual(Object.fromEntries(taken), {
    string: ['tea'],
    number: [7],
    boolean: [true],
    object: [{ a: 1 }],
    entries: [{ a: 1 }],
    list: [[{ a: 1 }]],
    strings: [],
    field: [],
    optional: [{ a: 1 }],
  });
  assert.equal(
    problem(() => jsonReader(undefined).string('a')),
    'it is empty, not an object',
  );
});

test('what an application may leave out is undefined, also when it is null', () => {
  const answer = jsonReader({ a: null, b: { c: '' } });
  assert.equal(answer.maybe('a'), undefined);
  assert.equal(answer.maybe('x', 'y'), undefined);
  assert.equal(answer.maybe('b', 'x'), undefined);
  assert.equal(answer.maybe('b', 'c')?.string(), '');
});

test('after a request that writes, nobody knows what the site did', () => {
  const read = () =>
    jsonReader({ a: [{}] }, 'unknown')
      .list('a')[0]
      ?.string('b');
  assert.throws(read, { code: 'INVALID_RESPONSE', outcome: 'unknown' });
});

test('a text that is no JSON reads as undefined', () => {
  assert.deepEqual(parseJSON('{"a":[1]}'), { a: [1] });
  assert.equal(parseJSON('null'), null);
  assert.equal(parseJSON('<html>'), undefined);
  assert.equal(parseJSON(''), undefined);
});
