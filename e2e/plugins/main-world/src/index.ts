import { definePlugin, defineTool, fetchJSON, ToolError } from '@tabrelay/plugin-sdk';

const none = { type: 'object', properties: {}, additionalProperties: false } as const;

const readTitle = defineTool({
  name: 'read_title',
  displayName: 'Read title',
  description: 'The title of the page.',
  annotations: { readOnlyHint: true },
  input: none,
  handle: async () => ({ title: document.querySelector('title')?.textContent ?? '' }),
});

const readSecret = defineTool({
  name: 'read_secret',
  displayName: 'Read secret',
  description: 'A global of the page.',
  annotations: { readOnlyHint: true },
  input: none,
  handle: async () => ({ secret: 'pageSecret' in globalThis ? globalThis.pageSecret : null }),
});

const refuse = defineTool({
  name: 'refuse',
  displayName: 'Refuse',
  description: 'Fails with NOT_FOUND.',
  input: none,
  async handle() {
    throw ToolError.notFound('There is nothing here');
  },
});

const breakDown = defineTool({
  name: 'break',
  displayName: 'Break',
  description: 'Fails with an error that is no ToolError.',
  input: none,
  async handle() {
    throw new TypeError('broken');
  },
});

const sayAtOnce = defineTool({
  name: 'say_at_once',
  displayName: 'Say at once',
  description: 'Answers without waiting for anything.',
  annotations: { readOnlyHint: true },
  input: none,
  handle: () => ({ said: [1, 2] }),
});

const sayLater = defineTool({
  name: 'say_later',
  displayName: 'Say later',
  description: 'Answers with a promise that it did not make itself.',
  annotations: { readOnlyHint: true },
  input: none,
  handle: () => fetchJSON('/hostile/echo'),
});

export default definePlugin({
  tools: [readTitle, readSecret, refuse, breakDown, sayAtOnce, sayLater],
});
