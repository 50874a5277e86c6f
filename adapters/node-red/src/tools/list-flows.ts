import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { readFlows } from '../api.ts';
import { isDisabled, isFlow, labelOf, revOutput, textOf } from '../flows.ts';

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
  async handle(part, { signal, maxBytes }) {
    const { nodes, rev } = await readFlows(signal);
    const all = nodes.filter(isFlow).map((flow) => {
      const id = flow.string('id');
      return {
        id,
        label: labelOf(flow),
        subflow: flow.string('type') === 'subflow',
        disabled: isDisabled(flow),
        nodes: nodes.filter((node) => textOf(node, 'z') === id).length,
      };
    });
    return listPage(all, { ...part, maxBytes }, (flows, paging) => ({ flows, rev, ...paging }));
  },
});
