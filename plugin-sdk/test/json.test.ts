import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asNumber,
  asText,
  isObject,
  isTrue,
  itemsIn,
  objectAt,
  objectsIn,
  parseJSON,
  textsIn,
} from '@tabrelay/plugin-sdk/json';

const others = [undefined, null, true, 7, 'tea', [{ a: 1 }], { a: 1 }];

/** The values that a reading takes for what it asks for. */
const taken = (reads: (value: unknown) => boolean) => others.filter(reads);

test('an object is neither a list nor null', () => {
  assert.deepEqual(taken(isObject), [{ a: 1 }]);
});

test('a path leads to an object, or to an empty one', () => {
  const answer = { order: { id: 7, customer: { name: 'Ada' } }, list: [{ name: 'x' }] };
  assert.equal(objectAt(answer), answer);
  assert.equal(objectAt(answer, 'order', 'customer'), answer.order.customer);
  for (const path of [['nobody'], ['order', 'id'], ['order', 'id', 'name'], ['list'], ['list', '0']]) {
    assert.deepEqual(objectAt(answer, ...path), {}, path.join('.'));
  }
  for (const value of others.slice(0, -1)) assert.deepEqual(objectAt(value, 'a'), {});
});

test('a list is read by what is in it', () => {
  const list = [{ a: 1 }, 'tea', 7, null, [], '', { b: 2 }];
  assert.equal(itemsIn(list), list);
  assert.deepEqual(objectsIn(list), [{ a: 1 }, { b: 2 }]);
  assert.deepEqual(textsIn(list), ['tea', '']);
  for (const value of others.filter((one) => !Array.isArray(one))) {
    assert.deepEqual([itemsIn(value), objectsIn(value), textsIn(value)], [[], [], []]);
  }
});

test('a value of another type reads as empty', () => {
  assert.deepEqual(others.map(asText), ['', '', '', '', 'tea', '', '']);
  assert.deepEqual(others.map(asNumber), [0, 0, 0, 7, 0, 0, 0]);
  assert.deepEqual(taken(isTrue), [true]);
});

test('a text that is no JSON reads as undefined', () => {
  assert.deepEqual(parseJSON('{"a":[1]}'), { a: [1] });
  assert.equal(parseJSON('null'), null);
  assert.equal(parseJSON('<html>'), undefined);
  assert.equal(parseJSON(''), undefined);
});
