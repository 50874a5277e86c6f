import assert from 'node:assert/strict';
import { type Application, failureOf, tapeTest } from '../../tape.ts';
import { signIn } from '../src/session.ts';
import { createFlow } from '../src/tools/create-flow.ts';
import { deleteFlow } from '../src/tools/delete-flow.ts';
import { getFlow } from '../src/tools/get-flow.ts';
import { getNode } from '../src/tools/get-node.ts';
import { injectMessage } from '../src/tools/inject.ts';
import { listFlows } from '../src/tools/list-flows.ts';
import { listPalette } from '../src/tools/list-palette.ts';
import { readContext } from '../src/tools/read-context.ts';
import { runtimeInfo } from '../src/tools/runtime-info.ts';
import { searchNodes } from '../src/tools/search-nodes.ts';
import { setFlowEnabled } from '../src/tools/set-flow-enabled.ts';
import { updateNode } from '../src/tools/update-node.ts';

const nodeRed: Application = {
  name: 'node-red',
  async signedIn(live) {
    if (live === undefined) return { 'auth-tokens': '{"access_token":"played"}' };
    const fields = { client_id: 'node-red-editor', grant_type: 'password', scope: '' };
    const body = new URLSearchParams({ ...fields, username: 'alice', password: 'correct horse battery' });
    return { 'auth-tokens': await (await fetch(`${live}auth/token`, { method: 'POST', body })).text() };
  },
};

const some = { limit: 50, offset: 0 };

tapeTest(nodeRed, 'flows and nodes', async ({ ctx }) => {
  const { flows, nextOffset } = await listFlows.handle({ limit: 1, offset: 0 }, ctx);
  assert.deepEqual(
    flows.map(({ id, nodes }) => [id, nodes]),
    [['greetings', 3]],
  );
  assert.equal(nextOffset, 1);
  const flow = await getFlow.handle({ flow: 'Greetings', ...some }, ctx);
  assert.deepEqual(
    flow.nodes.map(({ id, wires }) => [id, wires]),
    [
      ['press', [['greet']]],
      ['greet', [['show']]],
      ['show', []],
    ],
  );
  const { node } = await getNode.handle({ node: 'greet', maxChars: 20 }, ctx);
  assert.equal(node.func, "context.set('count',…");
  const found = await searchNodes.handle({ text: 'IT FELL', ...some }, ctx);
  assert.deepEqual(found.nodes, [
    {
      id: 'fall',
      type: 'function',
      name: 'Fall',
      flow: 'Failures',
      found: "func: throw new Error('It fell.')",
    },
  ]);
  assert.equal(
    (await searchNodes.handle({ text: '', type: 'inject', flow: 'greetings', ...some }, ctx)).total,
    1,
  );
});

tapeTest(nodeRed, 'a node is changed, unless somebody was faster', async ({ ctx }) => {
  const { rev } = await getNode.handle({ node: 'show', maxChars: 100 }, ctx);
  const renamed = await updateNode.handle({ node: 'show', settings: { name: 'Print' }, rev }, ctx);
  assert.notEqual(renamed.rev, rev);
  assert.equal((await getNode.handle({ node: 'show', maxChars: 100 }, ctx)).node.name, 'Print');
  const late = await failureOf(updateNode.handle({ node: 'show', settings: { name: 'Late' }, rev }, ctx));
  assert.deepEqual([late.code, late.outcome], ['CONFLICT', 'not_executed']);
  await updateNode.handle({ node: 'show', settings: { name: 'Show' }, rev: renamed.rev }, ctx);
});

tapeTest(nodeRed, 'a flow is created, stopped, started and deleted', async ({ ctx }) => {
  const nodes = [{ id: 'note-1', type: 'comment' }];
  const { id } = await createFlow.handle({ label: 'Notes', info: '', nodes }, ctx);
  const twice = await failureOf(createFlow.handle({ label: 'More', info: '', nodes }, ctx));
  assert.deepEqual([twice.code, twice.message], ['VALIDATION_ERROR', 'Node-RED answered: duplicate id']);
  assert.equal((await setFlowEnabled.handle({ flow: 'Notes', enabled: false }, ctx)).enabled, false);
  assert.equal((await getFlow.handle({ flow: id, ...some }, ctx)).disabled, true);
  await setFlowEnabled.handle({ flow: id, enabled: true }, ctx);
  assert.deepEqual(await deleteFlow.handle({ flow: 'Notes' }, ctx), { deleted: id, label: 'Notes' });
});

tapeTest(nodeRed, 'what the runtime says', async ({ ctx }) => {
  assert.deepEqual(await injectMessage.handle({ node: 'press', payload: 'fox' }, ctx), { injected: 'press' });
  const kept = await readContext.handle({ scope: 'flow', id: 'greetings', search: 'last', ...some }, ctx);
  assert.deepEqual(kept.values, [{ store: 'memory', key: 'last', format: 'string[3]', value: 'fox' }]);
  const { sets } = await listPalette.handle({ search: 'TCP', ...some }, ctx);
  assert.deepEqual(sets[0]?.types, ['tcp in', 'tcp out', 'tcp request']);
  const { version, user, state } = await runtimeInfo.handle({}, ctx);
  assert.deepEqual([version, user, state], ['4.1.15', 'alice', 'start']);
});

tapeTest(nodeRed, 'failures', async ({ ctx, signOut }) => {
  const expected: [code: string, action: () => Promise<unknown> | unknown][] = [
    ['NOT_FOUND', () => getFlow.handle({ flow: 'Nothing', ...some }, ctx)],
    ['NOT_FOUND', () => getNode.handle({ node: 'nothing', maxChars: 100 }, ctx)],
    ['NOT_FOUND', () => injectMessage.handle({ node: 'nothing' }, ctx)],
    ['VALIDATION_ERROR', () => readContext.handle({ scope: 'flow', search: '', ...some }, ctx)],
    ['VALIDATION_ERROR', () => readContext.handle({ scope: 'global', id: 'x', search: '', ...some }, ctx)],
    [
      'VALIDATION_ERROR',
      () => updateNode.handle({ node: 'show', settings: { type: 'inject' }, rev: 'x' }, ctx),
    ],
  ];
  for (const [code, action] of expected) assert.equal((await failureOf(action())).code, code);
  assert.equal(await signIn.isSignedIn(), true);
  signOut();
  assert.equal(await signIn.isSignedIn(), false);
  const refused = await failureOf(listFlows.handle(some, ctx));
  assert.deepEqual([refused.code, refused.category], ['AUTH_ERROR', 'auth']);
});
