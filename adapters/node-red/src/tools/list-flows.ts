import { defineTool } from '@tabrelay/plugin-sdk';
import { asText } from '@tabrelay/plugin-sdk/json';
import { pageOf, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { readFlows } from '../api.ts';
import { isDisabled, isFlow, labelOf, revOutput } from '../flows.ts';

export const listFlows = defineTool({
  name: 'list_flows',
  displayName: 'List flows',
  description:
    'The flows (tabs of the editor) and subflows with their number of nodes. Begin here; get_flow shows what is in one.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: pagingInput, additionalProperties: false },
  output: {
    type: 'object',
    properties: {
      flows: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            label: { type: 'string' },
            subflow: { type: 'boolean' },
            disabled: { type: 'boolean' },
            nodes: { type: 'integer' },
          },
          required: ['id', 'label', 'subflow', 'disabled', 'nodes'],
        },
      },
      rev: revOutput,
      ...pagingOutput,
    },
    required: ['flows', 'rev', 'total'],
  },
  arrayPath: '.flows',
  async handle(part, { signal }) {
    const { nodes, rev } = await readFlows(signal);
    const { items, paging } = pageOf(nodes.filter(isFlow), part);
    const flows = items.map((flow) => ({
      id: asText(flow.id),
      label: labelOf(flow),
      subflow: flow.type === 'subflow',
      disabled: isDisabled(flow),
      nodes: nodes.filter(({ z }) => z === flow.id).length,
    }));
    return { flows, rev, ...paging };
  },
});
