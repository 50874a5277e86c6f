import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { readFlows } from '../api.ts';
import { findFlow, flowInput, isDisabled, labelOf, revOutput, textOf } from '../flows.ts';

export const getFlow = defineTool({
  name: 'get_flow',
  displayName: 'Read a flow',
  description:
    'The nodes of one flow and how they are wired, without their settings. get_node has the settings and code of a node.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: { flow: flowInput, ...pagingInput },
    required: ['flow'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      label: { type: 'string' },
      info: { type: 'string', description: 'What its author wrote about it.' },
      disabled: { type: 'boolean' },
      nodes: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            type: { type: 'string' },
            name: { type: 'string' },
            disabled: { type: 'boolean' },
            wires: {
              type: 'array',
              items: { type: 'array', items: { type: 'string' } },
              description: 'For each output the ids of the nodes it leads to.',
            },
          },
          required: ['id', 'type', 'name', 'disabled', 'wires'],
        },
      },
      rev: revOutput,
      ...pagingOutput,
    },
    required: ['id', 'label', 'info', 'disabled', 'nodes', 'rev', 'total'],
  },
  arrayPath: '.nodes',
  async handle({ flow: wanted, ...part }, { signal, maxBytes }) {
    const flows = await readFlows(signal);
    const flow = findFlow(flows, wanted);
    const id = flow.string('id');
    const about = { id, label: labelOf(flow), info: textOf(flow, 'info').slice(0, 1000) };
    const all = flows.nodes
      .filter((node) => textOf(node, 'z') === id)
      .map((node) => ({
        id: node.string('id'),
        type: node.string('type'),
        name: textOf(node, 'name'),
        disabled: isDisabled(node),
        // A configuration has none.
        wires:
          node
            .maybe('wires')
            ?.list()
            .map((output) => output.strings()) ?? [],
      }));
    return listPage(all, { ...part, maxBytes }, (nodes, paging) => ({
      ...about,
      disabled: isDisabled(flow),
      nodes,
      rev: flows.rev,
      ...paging,
    }));
  },
});
