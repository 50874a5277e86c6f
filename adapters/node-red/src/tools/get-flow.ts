import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { readFlows } from '../api.ts';
import { findFlow, flowInput, isDisabled, labelOf, revOutput, textOf } from '../flows.ts';

export const getFlow = defineTool({
  name: 'get_flow',
  displayName: 'Read a flow',
  description:
    'The nodes of one flow and how they are wired, without their settings. get_node has ' +
    'the settings and code of a node.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    flow: flowInput,
    ...pagingInput,
  }),
  output: s.object({
    id: s.string(),
    label: s.string(),
    info: s.string('What its author wrote about it.'),
    disabled: s.boolean(),
    nodes: s.array(
      s.object({
        id: s.string(),
        type: s.string(),
        name: s.string(),
        disabled: s.boolean(),
        wires: s.array(s.array(s.string()), 'For each output the ids of the nodes it leads to.'),
      }),
    ),
    rev: revOutput,
    ...pagingOutput,
  }),
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
