import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { readFlows } from '../api.ts';
import { deploy } from '../deploy.ts';
import { findFlow, flowInput, revOutput } from '../flows.ts';

export const setFlowEnabled = defineTool({
  name: 'set_flow_enabled',
  displayName: 'Enable or disable a flow',
  description:
    'Starts or stops a flow and deploys that: a disabled flow keeps its nodes, and none of ' +
    'them runs.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: s.parameters({
    flow: flowInput,
    enabled: s.boolean('false stops it.'),
  }),
  output: s.object({
    flow: s.string(),
    enabled: s.boolean(),
    rev: revOutput,
  }),
  async handle({ flow: wanted, enabled }, { signal }) {
    const flows = await readFlows(signal);
    const flow = findFlow(flows, wanted);
    if (flow.string('type') === 'subflow')
      throw ToolError.validation('A subflow runs where it is used; it cannot be stopped itself.');
    const rev = await deploy(flows, { ...flow.object(), disabled: !enabled }, 'flows', signal);
    return { flow: flow.string('id'), enabled, rev };
  },
});
