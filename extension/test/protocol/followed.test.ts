import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromExtension } from '../../src/protocol/from-extension.generated.js';
import { followedFrame } from '../../src/worker/link/frames.ts';

const said = {
  type: 'followed',
  id: '0123456789abcdef0123456789abcdef',
  plugin: 'tea',
  tool: 'pour',
  kind: 'error',
  text: 'TypeError: x is undefined',
} as const;

// A script of the page may speak in place of a plugin in its world.
test('what a page makes up about a call ends no connection', () => {
  assert.equal(followedFrame({ ...said, id: 'made up' }), undefined);
  const long = 'x'.repeat(1_000_000);
  const frame = followedFrame({
    ...said,
    tool: long,
    text: long,
    places: [long, ...Array<string>(1000).fill('/a.js:1:2')],
    afterMs: -0.5,
  });
  assert.ok(frame !== undefined && fromExtension.followed(frame));
  assert.ok(JSON.stringify(frame).length < 5000);
  assert.deepEqual(followedFrame(said), said);
});
