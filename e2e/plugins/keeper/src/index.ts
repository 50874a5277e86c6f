import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';

const useToken = defineTool({
  name: 'use_token',
  displayName: 'Use token',
  description: 'Says how long the token is.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  async handle(_params, ctx) {
    return { characters: String(ctx.settings.token).length };
  },
});

export default definePlugin({ tools: [useToken] });
