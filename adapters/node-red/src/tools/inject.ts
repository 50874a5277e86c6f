import { defineTool } from '@tabrelay/plugin-sdk';
import { nodeInput } from '../flows.ts';
import { inject, payloadInput } from '../inject.ts';

export const injectMessage = defineTool({
  name: 'inject',
  displayName: 'Trigger an inject node',
  description:
    'Presses the button of an inject node: its flow runs once, with all it does to the world. To see what comes out use watch_debug.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: {
    type: 'object',
    properties: { node: nodeInput, payload: payloadInput },
    required: ['node'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { injected: { type: 'string' } }, required: ['injected'] },
  async handle({ node, payload }, { signal }) {
    await inject(node, payload, signal);
    return { injected: node };
  },
});
