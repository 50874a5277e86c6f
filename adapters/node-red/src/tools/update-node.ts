import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { conflict, readFlows } from '../api.ts';
import { deploy } from '../deploy.ts';
import { findNode, nodeInput, revOutput } from '../flows.ts';

export const updateNode = defineTool({
  name: 'update_node',
  displayName: 'Change a node',
  description:
    'Changes some settings of a node, leaves the others, and deploys: that node is started ' +
    'anew at once. Read it with get_node first and pass its rev; when somebody deployed ' +
    'since, the answer is CONFLICT.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: s.parameters({
    node: nodeInput,
    settings: {
      type: 'object',
      description: 'New values by name, such as {"func": "return msg;"} or {"wires": [["id"]]}.',
    },
    rev: s.string('The rev of the answer you read the node from.', { minLength: 1 }),
  }),
  output: s.object({
    node: s.string(),
    rev: revOutput,
  }),
  async handle({ node: wanted, settings, rev }, { signal }) {
    const fixed = ['id', 'type', 'z'].find((name) => name in settings);
    if (fixed !== undefined) throw ToolError.validation(`"${fixed}" of a node cannot be changed.`);
    const flows = await readFlows(signal);
    const node = findNode(flows, wanted);
    if (flows.rev !== rev) throw conflict('Somebody has deployed since you read this.');
    return {
      node: wanted,
      rev: await deploy(flows, { ...node.object(), ...settings }, 'nodes', signal),
    };
  },
});
