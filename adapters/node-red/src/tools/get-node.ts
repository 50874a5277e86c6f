import { defineTool } from '@tabrelay/plugin-sdk';
import { readFlows } from '../api.ts';
import { findNode, nodeInput, revOutput } from '../flows.ts';

export const getNode = defineTool({
  name: 'get_node',
  displayName: 'Read a node',
  description:
    'All settings of one node, such as the code of a function node. Credentials are never among them.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      node: nodeInput,
      maxChars: {
        type: 'integer',
        minimum: 20,
        maximum: 100000,
        default: 8000,
        description: 'Longer texts are cut, and end with "…": do not write them back.',
      },
    },
    required: ['node'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { node: { type: 'object', description: 'The settings by name.' }, rev: revOutput },
    required: ['node', 'rev'],
  },
  async handle({ node: wanted, maxChars }, { signal }) {
    const flows = await readFlows(signal);
    const settings = Object.entries(findNode(flows, wanted).object()).map(([name, value]) => [
      name,
      typeof value === 'string' && value.length > maxChars ? `${value.slice(0, maxChars)}…` : value,
    ]);
    return { node: Object.fromEntries(settings), rev: flows.rev };
  },
});
