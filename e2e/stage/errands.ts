// Errands that a client delegates: agents that think with the scripted model, and how their answers are read.

import { z } from 'zod';
import type { Agent, CallOptions } from './agent.ts';
import type { Answer } from './answer.ts';
import { Closing } from './closing.ts';
import { type Model, openModel } from './model.ts';
import { type Conversation, type Kind, kinds, type ToolCall } from './model-wires.ts';
import stageTest from './test.ts';

const Action = z.object({
  id: z.string(),
  tool: z.string(),
  ok: z.boolean(),
  code: z.string().optional(),
  outcome: z.enum(['executed', 'not_executed', 'unknown']),
  writes: z.boolean(),
  tabId: z.number().optional(),
  ms: z.number(),
});

const Summary = z.object({
  executed: z.array(Action).default([]),
  notExecuted: z.array(Action).default([]),
  unknown: z.array(Action).default([]),
});

/** What tasks_delegate and sessions_prompt answer. */
const Errand = z.object({
  success: z.boolean().optional(),
  sessionId: z.string().optional(),
  agentId: z.string().optional(),
  text: z.string(),
  stopReason: z.string(),
  requestId: z.string().optional(),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number() }).optional(),
  source: z.string().optional(),
  toolCalls: z.array(Action),
  outcome: Summary.optional(),
});

/** What tasks_delegate answers when it fails. */
const Failed = z.object({
  success: z.literal(false).optional(),
  sessionId: z.string().optional(),
  error: z.string(),
  code: z.number(),
  data: z.looseObject({
    type: z.string(),
    retryable: z.boolean(),
    sessionValid: z.boolean().optional(),
    providerId: z.string().optional(),
    retryAfterMs: z.number().optional(),
    recovery: z.array(z.string()).optional(),
    toolCalls: z.array(Action).optional(),
    outcome: z.unknown().optional(),
  }),
});

/** The agent that thinks with the provider of a wire. */
export const agentOf = (kind: Kind): string => `${kind}-agent`;

/** `providers` and `agents` of config.json: a provider and an agent on it for each wire. */
export const delegating = (model: Model) => ({
  providers: model.providers,
  permissions: { demo: 'auto' }, // also its counter, which asks otherwise
  agents: Object.fromEntries(
    kinds.map((kind) => [agentOf(kind), { providers: [kind], capabilities: ['research'] }]),
  ),
});

/** The model of the worker's relay. Each test gives it a script. */
export const errandTest = stageTest.extend<object, { model: Model }>({
  model: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      await use(await openModel(closing));
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

/** A call of the model as it can make it: by name where it is not shown a list of all tools. */
export function use({ tools }: Conversation, tool: string, input: Record<string, unknown> = {}): ToolCall {
  return tools.includes(tool) || !tools.includes('relay__call_tool')
    ? { tool, input }
    : { tool: 'relay__call_tool', input: { name: tool, arguments: input } };
}

/** What a call of the model was answered with, without the markers around words of pages. */
export function read(text: string | undefined): unknown {
  const json = /^[{[].*[}\]]$/ms.exec(text ?? '')?.[0];
  if (json === undefined) throw new Error(`the model was not shown a result: ${text}`);
  return JSON.parse(json);
}

interface Delegated {
  prompt: string;
  agentId?: string;
  timeout?: number;
  metadata?: Record<string, unknown>;
}

/** Delegates an errand, and returns the whole answer. */
export function delegate(agent: Agent, errand: Delegated, options: CallOptions = {}): Promise<Answer> {
  return agent.call('tasks_delegate', { ...errand }, options);
}

/** The errand's end as the client's program reads it. */
export const endOf = (answer: Answer) => Errand.parse(answer.value);

export const failureOf = (answer: Answer) => Failed.parse(JSON.parse(answer.text));
