// Tools that say where they ran: at which desk (the tab) and whose (the account that the browser is signed in to).

import { definePlugin, defineTool, sleep } from '@tabrelay/plugin-sdk';

const place = {
  type: 'object',
  properties: { desk: { type: 'string' }, account: { type: 'string' } },
  required: ['desk', 'account'],
} as const;

/** The server says who is signed in, the page where it is. */
async function here(path: string, method: 'GET' | 'POST', signal: AbortSignal) {
  const answer = await fetch(`${location.pathname}/${path}`, { method, signal });
  return { desk: location.pathname.slice('/desk/'.length), account: await answer.text() };
}

const read = defineTool({
  name: 'read',
  displayName: 'Read',
  description: 'Which desk this is, and whose.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: place,
  handle: (_, { signal }) => here('who', 'GET', signal),
});

const write = defineTool({
  name: 'write',
  displayName: 'Write',
  description: 'Writes a note at this desk, and takes its time.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: {
    type: 'object',
    properties: {
      note: { type: 'string', pattern: '^[a-z0-9-]{1,60}$' },
      ms: { type: 'integer', minimum: 0, maximum: 10_000, default: 0 },
    },
    required: ['note'],
    additionalProperties: false,
  },
  output: place,
  async handle({ note, ms }, { signal }) {
    const written = await here(`notes/${note}`, 'POST', signal);
    await sleep(ms, { signal });
    return written;
  },
});

export default definePlugin({ tools: [read, write] });
