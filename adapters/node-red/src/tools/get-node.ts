import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { readFlows } from '../api.ts';
import { findNode, nodeInput, revOutput } from '../flows.ts';

export const getNode = defineTool({
  name: 'get_node',
  displayName: 'Read a node',
  description:
    'All settings of one node, such as the code of a function node. Credentials are never ' +
    'among them.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    node: nodeInput,
    maxChars: s.integer('Longer texts are cut, and end with "…": do not write them back.', {
      minimum: 20,
      maximum: 100000,
      default: 8000,
    }),
  }),
  output: s.object({
    node: { type: 'object', description: 'The settings by name.' },
    rev: revOutput,
  }),
  async handle({ node: wanted, maxChars }, { signal }) {
    const flows = await readFlows(signal);
    const settings = Object.entries(findNode(flows, wanted).object()).map(([name, value]) => [
      name,
      typeof value === 'string' && value.length > maxChars ? `${value.slice(0, maxChars)}…` : value,
    ]);
    return { node: Object.fromEntries(settings), rev: flows.rev };
  },
});
