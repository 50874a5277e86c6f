// An agent that uses pages with the browser's own tools: it sees what the tools answer, and nothing else.

import { expect } from '@playwright/test';
import { z } from 'zod';
import type { Agent } from './agent.ts';
import type { Answer } from './answer.ts';

const effectShape = z.looseObject({
  outcome: z.literal('executed'),
  changes: z.string().optional(),
  noEffect: z.literal(true).optional(),
  note: z.string().optional(),
  url: z.string().optional(),
  leaving: z.string().optional(),
  focused: z.string().optional(),
  dialogs: z.array(z.object({ kind: z.string(), text: z.string(), answered: z.string() })).optional(),
  opened: z.array(z.object({ tabId: z.number(), url: z.string() })).optional(),
  downloads: z.array(z.string()).optional(),
  blockedWindows: z.array(z.string()).optional(),
  consoleErrors: z.array(z.string()).optional(),
  failedRequests: z.array(z.string()).optional(),
  filled: z
    .array(
      z.looseObject({
        ref: z.string(),
        value: z.unknown(),
        verified: z.boolean(),
        note: z.string().optional(),
      }),
    )
    .optional(),
});

export type Effect = z.infer<typeof effectShape>;

/** What an act says of itself: the same to a program and, in lines, to who reads. */
export function effectOf(answer: Answer): Effect {
  const effect = effectShape.parse(answer.value);
  const { changes = '', note, noEffect, dialogs = [], filled = [] } = effect;
  const said = answer.text;
  const lines = said.split('\n');
  // What the line of a field says is not said again.
  const isSaid = (line: string) =>
    lines.some((one) => one === line || one.replace(/^(?:\d+\. )?filled /, '+ ') === line);
  for (const line of changes.split('\n').filter((one) => /^[+-] /.test(one)))
    expect(isSaid(line), `${line} in ${said}`).toBe(true);
  for (const line of changes.split('\n').filter((one) => one.startsWith('~ ')))
    if (!lines.includes(line)) expect(said).toContain(line.slice(2).split('] ').at(-1));
  expect(lines.includes('noEffect: true'), said).toBe(noEffect === true);
  if (note !== undefined) expect(lines).toContain(`note: ${note}`);
  expect(lines.filter((line) => line.startsWith('dialogs: '))).toHaveLength(dialogs.length);
  expect(lines.filter((line) => /^(?:\d+\. )?filled /.test(line))).toHaveLength(Math.max(filled.length, 0));
  return effect;
}

export class Acting {
  readonly agent: Agent;

  constructor(agent: Agent) {
    this.agent = agent;
  }

  /** The page as the agent sees it. */
  async look(args: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.agent.call('browser__snapshot', args);
    expect(answer.failed, answer.text).toBe(false);
    const { text } = answer;
    return text;
  }

  /** The reference of the first thing that is told with these words, such as `button "Save"`. */
  async ref(words: string): Promise<string> {
    const page = await this.look({ full: true, maxTokens: 20_000 });
    const found = page.split(`${words} [`)[1]?.split(']')[0];
    expect(found, `${words} in\n${page}`).toBeDefined();
    return found ?? '';
  }

  /** Does something, and tells what came of it. */
  async do(tool: string, args: Record<string, unknown>): Promise<Effect> {
    const answer = await this.agent.call(`browser__${tool}`, args);
    return effectOf(answer);
  }

  /** The failure of an act: its code, and whether anything was done. */
  async failure(
    tool: string,
    args: Record<string, unknown>,
  ): Promise<{ code: unknown; outcome: string; text: string; hint: string }> {
    const answer = await this.agent.call(`browser__${tool}`, args);
    expect(answer.failed, answer.text).toBe(true);
    return { code: answer.code, text: answer.text, ...answer.facts };
  }

  async click(words: string, more: Record<string, unknown> = {}): Promise<Effect> {
    return this.do('click', { ref: await this.ref(words), ...more });
  }

  /** Fills one field; what it holds then. */
  async fill(words: string, value: unknown): Promise<NonNullable<Effect['filled']>[number]> {
    const effect = await this.do('fill', { fields: [{ ref: await this.ref(words), value }] });
    const filled = effect.filled?.[0];
    if (filled === undefined) throw new Error(`nothing filled: ${JSON.stringify(effect)}`);
    return filled;
  }
}
