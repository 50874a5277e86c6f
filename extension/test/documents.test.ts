// Where a frame stands in its window, when no script in it can say so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexAmong } from '../src/worker/calls/documents.ts';

const spot = (frameId: number, index: number, parentFrameId = 0) => ({ frameId, index, parentFrameId });

test('a silent frame has the place that the others of its window leave', () => {
  const only = spot(4, -2);
  assert.equal(indexAmong([only], new Map([[0, 1]]), only), 0);
  const between = spot(6, -2);
  assert.equal(indexAmong([spot(4, 0), between, spot(8, 2)], new Map([[0, 3]]), between), 1);
});

test('several have the places left in the order in which they came', () => {
  const [early, late] = [spot(5, -2), spot(9, -2)];
  const spots = [late, spot(7, 1), early];
  const counts = new Map([[0, 3]]);
  assert.equal(indexAmong(spots, counts, early), 0);
  assert.equal(indexAmong(spots, counts, late), 2);
});

test('frames of another window take no place', () => {
  const one = spot(5, -2);
  assert.equal(indexAmong([one, spot(6, 0, 5)], new Map([[0, 1]]), one), 0);
});

test('in a shadow root it has none, and where several are possible none is said', () => {
  const shadowed = spot(5, -2);
  assert.equal(indexAmong([spot(4, 0), shadowed], new Map([[0, 1]]), shadowed), -1);
  const either = spot(5, -2);
  assert.equal(indexAmong([either, spot(6, -2)], new Map([[0, 1]]), either), -2);
  assert.equal(indexAmong([either], new Map(), either), -2, 'its window says nothing either');
});
