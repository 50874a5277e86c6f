import assert from 'node:assert/strict';
import { test } from 'node:test';
import { losses } from '../src/page/losses.ts';

const loop: Record<string, unknown> = {};
loop.self = loop;

const cases: [what: string, result: unknown, said: RegExp[]][] = [
  ['plain data', { a: [1, 'b', null, { c: true }], d: new Date(0), u: undefined }, []],
  ['nothing', undefined, []],
  ['a Map', { m: new Map() }, [/^"m" of the result is a Map, and becomes \{\}/]],
  ['a Set in a list', [{ s: new Set() }], [/^"0\.s" of the result is a Set/]],
  ['an error', new Error('x'), [/^The result is an Error/]],
  ['a promise', { p: Promise.resolve(1) }, [/"p" of the result is a promise.*await it/]],
  ['no number', { n: Number.NaN, i: -1 / 0 }, [/"n" .* is NaN/, /"i" .* is -Infinity/]],
  ['functions and symbols', { f: () => 1, s: Symbol('x') }, [/"f" .* function/, /"s" .* symbol/]],
  ['a pattern', /x/, [/RegExp/]],
  ['what says how it is written', { m: Object.assign(new Map(), { toJSON: () => 1 }) }, []],
  ['a cycle', loop, [/leads back to itself/]],
  [
    'a date without a time',
    { at: new Date(Number.NaN) },
    [/"at" .* is a Date without a time, and becomes null/],
  ],
  ['a generator', (function* () {})(), [/^The result is a Generator, and becomes \{\}: \[\.\.\.it\]/]],
  ['an async generator', (async function* () {})(), [/is an AsyncGenerator.*for await/]],
  ['parameters', { q: new URLSearchParams('a=b') }, [/"q" .* URLSearchParams.*Object\.fromEntries/]],
  ['an answer', new Response('x'), [/is a Response, and becomes \{\}: await its json\(\) or text\(\)/]],
  ['bytes', { b: new Uint8Array(2) }, [/is a Uint8Array, and becomes an object of its numbers/]],
  ['what has no fields', { w: new WeakMap() }, [/is a WeakMap, and becomes \{\}/]],
  [
    'an instance of a class',
    new (class Tea {
      name = 'x';
    })(),
    [],
  ],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), []],
  ['boxed text', [new String('x'), new Number(1), new Boolean(true)], []],
  ['at most five', Array.from({ length: 9 }, () => Number.NaN), Array.from({ length: 5 }, () => /NaN/)],
];

for (const [what, result, said] of cases) {
  test(`losses of ${what}`, () => {
    const found = losses(result);
    assert.equal(found.length, said.length, found.join('\n'));
    for (const [i, words] of said.entries()) assert.match(found[i] ?? '', words);
  });
}

test('a getter that throws is no loss', () => {
  const result = {
    get a() {
      throw new Error('not now');
    },
  };
  assert.deepEqual(losses(result), []);
});

test('what JSON cannot be made of is said with its place', () => {
  const tea: { cups: unknown[]; price: bigint } = { cups: [], price: 2n };
  tea.cups.push(tea);
  assert.deepEqual(losses(tea), [
    '"cups.0" of the result leads back to itself, and fails: return the fields that matter',
    '"price" of the result is a BigInt, and fails: String(it)',
  ]);
  const cup = {};
  assert.deepEqual(losses([cup, cup]), []); // twice is no cycle
});
