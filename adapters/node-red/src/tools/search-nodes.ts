import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { readFlows } from '../api.ts';
import { findFlow, flowInput, isFlow, labelOf, textOf } from '../flows.ts';

export const searchNodes = defineTool({
  name: 'search_nodes',
  displayName: 'Search nodes',
  description:
    'Nodes of all flows that have some text in a setting: name, topic, URL, code. Or all ' +
    'nodes of a type.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    text: s.string('Text to find, in any case. Default: any.', { default: '' }),
    type: s.optional(
      s.string('Only nodes of this type, such as inject, function or mqtt in.', { minLength: 1 }),
    ),
    flow: s.optional({ ...flowInput, description: 'Only in this flow: id or label.' }),
    ...pagingInput,
  }),
  output: s.object({
    nodes: s.array(
      s.object({
        id: s.string(),
        type: s.string(),
        name: s.string(),
        flow: s.string('Label of its flow; empty for a configuration that all flows share.'),
        found: s.string('The setting with the text, and what stands around it.'),
      }),
    ),
    ...pagingOutput,
  }),
  arrayPath: '.nodes',
  async handle({ text: wanted, type, flow, ...part }, { signal, maxBytes }) {
    const flows = await readFlows(signal);
    const within = flow === undefined ? undefined : findFlow(flows, flow).string('id');
    const labels = new Map(
      flows.nodes.filter(isFlow).map((one) => [one.string('id'), labelOf(one)]),
    );
    const matching = flows.nodes.flatMap((node) => {
      if (isFlow(node) || (type !== undefined && node.string('type') !== type)) return [];
      const z = textOf(node, 'z');
      const found = (within === undefined || z === within) && excerpt(node, wanted.toLowerCase());
      const about = {
        id: node.string('id'),
        type: node.string('type'),
        name: textOf(node, 'name'),
      };
      return found === false ? [] : [{ ...about, flow: labels.get(z) ?? '', found }];
    });
    return listPage(matching, { ...part, maxBytes }, (nodes, paging) => ({ nodes, ...paging }));
  },
});

/** The first setting that has the text; false when none has. */
function excerpt(node: JsonReader, wanted: string): string | false {
  if (wanted === '') return '';
  for (const [name, value] of Object.entries(node.object())) {
    const whole = typeof value === 'string' ? value : JSON.stringify(value);
    const start = whole.toLowerCase().indexOf(wanted);
    if (start >= 0)
      return `${name}: ${whole.slice(Math.max(0, start - 40), start + wanted.length + 40)}`;
  }
  return false;
}
