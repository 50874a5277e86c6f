import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceLine } from '../src/page/trace.ts';

const thrown = (...frames: string[]) => ({
  stack: ['Error: boom', ...frames.map((f) => `    at ${f}`)].join('\n'),
});

const cases: [name: string, thrown: unknown, want: string | undefined][] = [
  [
    'an adapter',
    thrown('handle (chrome-extension://abc/adapters/demo-1a.js:12:34)', 'other (https://x/y:1:1)'),
    '/adapters/demo-1a.js:12:34',
  ],
  ['without a function', thrown('https://app.example/static/app.js:1:20345'), '/static/app.js:1:20345'],
  ['async', thrown('async Object.handle (https://app.example/a.js:3:4)'), '/a.js:3:4'],
  ['a query is left out', thrown('f (https://app.example/a.js?token=geheim:3:4)'), '/a.js:3:4'],
  ['a fragment too', thrown('f (https://app.example/a.js#x=1:3:4)'), '/a.js:3:4'],
  [
    'the first frame with an address',
    thrown('Array.map (<anonymous>)', 'f (https://app.example/a.js:3:4)'),
    '/a.js:3:4',
  ],
  ['no file of the machine', thrown('f (file:///home/me/secret/a.js:3:4)'), undefined],
  ['none of node either', thrown('f (node:internal/modules:3:4)', 'g (/home/me/a.js:1:1)'), undefined],
  ['no place', thrown('f (https://app.example/a.js)'), undefined],
  ['an address in the message only', { stack: 'Error: see https://app.example/a.js:1:2' }, undefined],
  ['no stack', { message: 'x' }, undefined],
  ['no error', 'https://app.example/a.js:1:2', undefined],
  ['nothing', undefined, undefined],
  ['too long', thrown(`f (https://app.example/${'a'.repeat(400)}.js:3:4)`), undefined],
  [
    'a getter that throws',
    {
      get stack() {
        throw new Error('no');
      },
    },
    undefined,
  ],
];

for (const [name, error, want] of cases) {
  test(`the place of an error: ${name}`, () => assert.equal(traceLine(error), want));
}

test('the place of a real error', () => {
  assert.equal(traceLine(new Error('its files are of this machine')), undefined);
});
