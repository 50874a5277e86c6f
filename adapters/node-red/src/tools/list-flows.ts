import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { readFlows } from '../api.ts';
import { isDisabled, isFlow, labelOf, revOutput, textOf } from '../flows.ts';

export const listFlows = defineTool({
  name: 'list_flows',
  displayName: 'List flows',
  description:
    'The flows (tabs of the editor) and subflows with their number of nodes. Begin here; ' +
    'get_flow shows what is in one.',
  annotations: { readOnlyHint: true },
  input: s.parameters(pagingInput),
  output: s.object({
    flows: s.array(
      s.object({
        id: s.string(),
        label: s.string(),
        subflow: s.boolean(),
        disabled: s.boolean(),
        nodes: s.integer(),
      }),
    ),
    rev: revOutput,
    ...pagingOutput,
  }),
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
