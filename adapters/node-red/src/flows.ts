// What stands in the one list that a Node-RED deploys.

import { ToolError } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import type { Flows } from './api.ts';

/** Whether an entry is a flow (a tab of the editor) or a subflow. */
export const isFlow = (node: JsonReader): boolean =>
  ['tab', 'subflow'].includes(node.string('type'));

/** Off: a tab says disabled, a node says d. */
export const isDisabled = (node: JsonReader): boolean => node.flag('disabled') || node.flag('d');

/** A tab has a label, a subflow a name; either may be left out. */
export const labelOf = (flow: JsonReader): string => textOf(flow, 'label') || textOf(flow, 'name');

/** A text that a node may be without. */
export const textOf = (node: JsonReader, name: 'label' | 'name' | 'info' | 'z'): string =>
  node.maybe(name)?.string() ?? '';

/** The flow of that id or label. */
export function findFlow({ nodes }: Flows, wanted: string): JsonReader {
  const flows = nodes.filter(isFlow);
  const byId = flows.find((flow) => flow.string('id') === wanted);
  if (byId !== undefined) return byId;
  const [first, second] = flows.filter((flow) => labelOf(flow) === wanted);
  if (second !== undefined)
    throw ToolError.validation(`Several flows are named "${wanted}". Name it by its id.`);
  if (first !== undefined) return first;
  throw ToolError.notFound(`There is no flow "${wanted}". list_flows shows the flows there are.`);
}

/** The node of that id. */
export function findNode({ nodes }: Flows, wanted: string): JsonReader {
  const found = nodes.find((node) => node.string('id') === wanted && !isFlow(node));
  if (found !== undefined) return found;
  throw ToolError.notFound(`There is no node "${wanted}". search_nodes finds nodes by their text.`);
}

/** JSON Schema of which flow is meant. */
export const flowInput = s.string('Id or label of the flow, from list_flows.', { minLength: 1 });

/** JSON Schema of which node is meant. */
export const nodeInput = s.string('Id of the node, from get_flow or search_nodes.', {
  minLength: 1,
});

/** JSON Schema of the revision. */
export const revOutput = s.string('The revision of all flows; update_node can be given it.');
