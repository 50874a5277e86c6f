import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { nodeInput } from '../flows.ts';
import { inject, payloadInput } from '../inject.ts';

export const injectMessage = defineTool({
  name: 'inject',
  displayName: 'Trigger an inject node',
  description:
    'Presses the button of an inject node: its flow runs once, with all it does to the ' +
    'world. To see what comes out use watch_debug.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  input: s.parameters({
    node: nodeInput,
    payload: s.optional(payloadInput),
  }),
  output: s.object({
    injected: s.string(),
  }),
  async handle({ node, payload }, { signal }) {
    await inject(node, payload, signal);
    return { injected: node };
  },
});
