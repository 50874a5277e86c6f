import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstLook } from '../src/capabilities/browser/arriving.ts';
import { Ended } from '../src/worker/calls/tool-runner.ts';

test('a page that led on while it was looked at is looked at once more; else it is said why there is no look', async () => {
  const looks = (...answers: (string | Error)[]) => ({
    look: async () => {
      const answer = answers.shift() ?? assert.fail('looked too often');
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const gone = Ended.as('TAB_CHANGED', 'The tab went to another page');
  const of = (site: 'open' | 'ask' | 'off', ...answers: (string | Error)[]) =>
    firstLook(site, looks(...answers).look);
  assert.deepEqual(await of('open', 'page "A"'), { page: 'page "A"' });
  assert.deepEqual(await of('open', gone, 'page "B"'), { page: 'page "B"' });
  assert.deepEqual(await of('open', gone, gone), {
    notLooked: 'The page could not be looked at: The tab went to another page. Take a snapshot',
  });
  assert.deepEqual(await of('open', new Error('of Chrome'), new Error('of Chrome')), {
    notLooked: 'The page could not be looked at. Take a snapshot',
  });
  assert.deepEqual(await of('ask'), {});
  assert.deepEqual(await of('off'), {});
});
