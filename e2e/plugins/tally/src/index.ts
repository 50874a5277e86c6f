// Writes that leave two marks: one in the page, before anything can wait, and one at the server. Comparing both with
// what the agent was told shows whether anything happened twice, or happened though it was said that it did not.

import { definePlugin, defineTool, sleep } from '@tabrelay/plugin-sdk';

const token = { type: 'string', pattern: '^[a-z0-9-]{1,60}$', description: 'Names this one write.' } as const;

/** Counts in the page. localStorage outlives the tab, so that a closed tab can still be asked. */
function countHere(name: string): void {
  const key = `write:${name}`;
  localStorage.setItem(key, String(Number(localStorage.getItem(key) ?? '0') + 1));
}

const write = defineTool({
  name: 'write',
  displayName: 'Write',
  description: 'Counts one write in the page and one at the server, then takes its time.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: {
    type: 'object',
    properties: { token, ms: { type: 'integer', minimum: 0, maximum: 10_000, default: 0 } },
    required: ['token'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
  async handle(params, { signal }) {
    countHere(params.token);
    // keepalive: a write that began is counted even when its page is closed meanwhile.
    await fetch(`/writes/${params.token}`, { method: 'POST', keepalive: true });
    await sleep(params.ms, { signal });
    return { token: params.token };
  },
});

const read = defineTool({
  name: 'read',
  displayName: 'Read',
  description: 'How many writes the server has counted.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: { type: 'object', properties: { writes: { type: 'integer' } }, required: ['writes'] },
  async handle(_, { signal }) {
    const answer = await fetch('/writes', { signal });
    return { writes: Number(await answer.text()) };
  },
});

const burst = defineTool({
  name: 'burst',
  displayName: 'Burst',
  description: 'Reports progress several times in one go and answers at once.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: { call: { type: 'integer' }, steps: { type: 'integer', minimum: 0, maximum: 100 } },
    required: ['call', 'steps'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { call: { type: 'integer' } }, required: ['call'] },
  handle({ call, steps }, { reportProgress }) {
    for (let step = 1; step <= steps; step++) {
      reportProgress({ progress: step, total: steps, message: `call ${call}` });
    }
    return Promise.resolve({ call });
  },
});

export default definePlugin({ tools: [write, read, burst] });
