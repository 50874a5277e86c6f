import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { changedText, replaceInput } from '@tabrelay/plugin-sdk/editing';
import * as s from '@tabrelay/plugin-sdk/schema';
import { conflict, readFlows } from '../api.ts';
import { deploy } from '../deploy.ts';
import { findNode, nodeInput, revOutput } from '../flows.ts';

export const updateNode = defineTool({
  name: 'update_node',
  displayName: 'Change a node',
  description:
    'Changes some settings of a node, leaves the others, and deploys: that node is started ' +
    'anew at once. Read it with get_node first and pass its rev; when somebody deployed ' +
    'since, the answer is CONFLICT.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: s.parameters({
    node: nodeInput,
    settings: s.optional({
      type: 'object',
      description: 'New values by name, such as {"func": "return msg;"} or {"wires": [["id"]]}.',
    }),
    setting: s.optional(s.string('The setting that has oldText; "func" when left out.')),
    ...replaceInput,
    rev: s.string('The rev of the answer you read the node from.', { minLength: 1 }),
  }),
  output: s.object({
    node: s.string(),
    rev: revOutput,
  }),
  async handle(
    { node: wanted, settings = {}, setting = 'func', oldText, newText, rev },
    { signal },
  ) {
    const partial = oldText !== undefined || newText !== undefined;
    if (!partial && Object.keys(settings).length === 0) {
      throw ToolError.validation('Pass settings, or oldText and newText of one of them.');
    }
    if (partial && setting in settings) {
      throw ToolError.validation(
        `"${setting}" is in settings and is to be changed by oldText too.`,
      );
    }
    const fixed = ['id', 'type', 'z'].find(
      (name) => name in settings || (partial && name === setting),
    );
    if (fixed !== undefined) throw ToolError.validation(`"${fixed}" of a node cannot be changed.`);
    const flows = await readFlows(signal);
    const node = findNode(flows, wanted);
    if (flows.rev !== rev) throw conflict('Somebody has deployed since you read this.');
    const changed = { ...node.object(), ...settings };
    if (partial) {
      changed[setting] = await changedText({ oldText, newText }, () => node.string(setting));
    }
    return { node: wanted, rev: await deploy(flows, changed, 'nodes', signal) };
  },
});
