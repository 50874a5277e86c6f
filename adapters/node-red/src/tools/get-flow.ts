import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, itemsIn, textsIn } from '@tabrelay/plugin-sdk/json';
import { pageOf, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { readFlows } from '../api.ts';
import { findFlow, flowInput, isDisabled, labelOf, revOutput } from '../flows.ts';

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
  async handle({ flow: wanted, ...part }, { signal }) {
    const flows = await readFlows(signal);
    const flow = findFlow(flows, wanted);
    const { items, paging } = pageOf(
      flows.nodes.filter(({ z }) => z === flow.id),
      part,
    );
    const nodes = items.map((node) => ({
      id: asText(node.id),
      type: asText(node.type),
      name: asText(node.name),
      disabled: isDisabled(node),
      wires: itemsIn(node.wires).map(textsIn),
    }));
    const about = { id: asText(flow.id), label: labelOf(flow), info: asText(flow.info).slice(0, 1000) };
    return { ...about, disabled: isDisabled(flow), nodes, rev: flows.rev, ...paging };
  },
});
