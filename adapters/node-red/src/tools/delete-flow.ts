import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { order, readFlows } from '../api.ts';
import { findFlow, flowInput, labelOf } from '../flows.ts';

export const deleteFlow = defineTool({
  name: 'delete_flow',
  displayName: 'Delete a flow',
  description:
    'Deletes a flow with all its nodes and stops it. To only stop it use set_flow_enabled. ' +
    'Ask the person before you call it.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: s.parameters({
    flow: flowInput,
  }),
  output: s.object({
    deleted: s.string('Its id.'),
    label: s.string(),
  }),
  async handle({ flow: wanted }, { signal }) {
    const flow = findFlow(await readFlows(signal), wanted);
    const id = flow.string('id');
    const missing = `The flow "${wanted}" cannot be deleted: it is a subflow, or gone already.`;
    const sent = { method: 'DELETE', missing };
    await order(`flow/${encodeURIComponent(id)}`, sent, { status: 204, text: '' }, signal);
    return { deleted: id, label: labelOf(flow) };
  },
});
