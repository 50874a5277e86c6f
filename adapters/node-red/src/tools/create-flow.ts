import { defineTool } from '@tabrelay/plugin-sdk';
import { readFlows, send } from '../api.ts';
import { running } from '../deploy.ts';

export const createFlow = defineTool({
  name: 'create_flow',
  displayName: 'Create a flow',
  description:
    'Adds a flow with its nodes and deploys it: it runs at once. Look at nodes of the same type with get_node for their settings.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: {
    type: 'object',
    properties: {
      label: { type: 'string', minLength: 1, description: 'What its tab is called.' },
      info: { type: 'string', default: '', description: 'What it is for, in Markdown.' },
      nodes: {
        type: 'array',
        maxItems: 200,
        description:
          'Each with id (new, such as "greet-1"), type, x, y, wires (a list for each output) and its settings.',
        items: {
          type: 'object',
          properties: { id: { type: 'string', minLength: 1 }, type: { type: 'string', minLength: 1 } },
          required: ['id', 'type'],
        },
      },
    },
    required: ['label', 'nodes'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { id: { type: 'string', description: 'Of the flow.' } },
    required: ['id'],
  },
  async handle(flow, { signal }) {
    const { rev } = await readFlows(signal);
    const post = async () => (await send('flow', { method: 'POST', body: flow }, signal)).string('id');
    return { id: await running(rev, post, signal) };
  },
});
