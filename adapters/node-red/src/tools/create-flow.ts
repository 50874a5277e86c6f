import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { readFlows, send } from '../api.ts';
import { running } from '../deploy.ts';

export const createFlow = defineTool({
  name: 'create_flow',
  displayName: 'Create a flow',
  description:
    'Adds a flow with its nodes and deploys it: it runs at once. Look at nodes of the same ' +
    'type with get_node for their settings.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: s.parameters({
    label: s.string('What its tab is called.', { minLength: 1 }),
    info: s.string('What it is for, in Markdown.', { default: '' }),
    nodes: s.array(
      s.object({
        id: s.string({ minLength: 1 }),
        type: s.string({ minLength: 1 }),
      }),
      'Each with id (new, such as "greet-1"), type, x, y, wires (a list for each output) ' +
        'and its settings.',
      { maxItems: 200 },
    ),
  }),
  output: s.object({
    id: s.string('Of the flow.'),
  }),
  async handle(flow, { signal }) {
    const { rev } = await readFlows(signal);
    const post = async () =>
      (await send('flow', { method: 'POST', body: flow }, signal)).string('id');
    return { id: await running(rev, post, signal) };
  },
});
