// The ways in which an agent's calls reach a server, and what each costs it in tokens of o200k.

import { execFile } from 'node:child_process';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { binary } from '../../stage/paths.ts';
import { tokens } from '../../stage/tokens.ts';

export interface Called {
  text: string;
  failed: boolean;
  /** Of what the agent wrote and of what it reads. */
  tokens: number;
}

export interface Caller {
  call(name: string, args: Record<string, unknown>): Promise<Called>;
  /** Tokens of what stands in the agent's context before its first call. */
  known(): Promise<number>;
}

const Result = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  isError: z.boolean().optional(),
});

/** Calls over MCP: the list of tools is known, with descriptions and input schemas. */
export function overMCP(client: Client): Caller {
  return {
    async call(name, args) {
      const result = Result.parse(
        await client.callTool({ name, arguments: args }, undefined, { timeout: 90_000 }),
      );
      const text = result.content.map((item) => item.text ?? `(${item.type})`).join('\n');
      const cost = tokens(name) + tokens(JSON.stringify(args)) + tokens(text);
      return { text, failed: result.isError ?? false, tokens: cost };
    },
    async known() {
      const { tools } = await client.listTools();
      return tools.reduce(
        (sum, { name, description, inputSchema }) =>
          sum + tokens(name) + tokens(description ?? '') + tokens(JSON.stringify(inputSchema)),
        0,
      );
    },
  };
}

const session = 'errand';

/** A word of a command line. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Calls by commands of a shell, of an agent that has read the skill. */
export function inShell(env: Record<string, string>): Caller {
  const run = runner({ ...env, TABRELAY_SESSION: session });
  return {
    async call(name, args) {
      const given = JSON.stringify(args);
      const answer = await run(binary, 'call', name, given, '--plain');
      const written = `TABRELAY_SESSION=${session} tabrelay call ${name} ${quoted(given)} -p`;
      return { ...answer, tokens: tokens(written) + tokens(answer.text) };
    },
    async known() {
      return tokens((await run(binary, 'skill')).text);
    },
  };
}

/** Calls that are lines of a shell as they are; guide is the line whose answer the agent has read before. */
export function byLines(guide: string, env: Record<string, string>): Caller {
  const run = runner(env);
  const line = (written: string) => run('/bin/sh', '-c', written);
  return {
    async call(written) {
      const answer = await line(written);
      return { ...answer, tokens: tokens(written) + tokens(answer.text) };
    },
    async known() {
      return tokens((await line(guide)).text);
    },
  };
}

const runner =
  (env: Record<string, string>) =>
  (program: string, ...args: string[]): Promise<{ text: string; failed: boolean }> =>
    new Promise((resolve) => {
      execFile(program, args, { env: { ...process.env, ...env }, timeout: 90_000 }, (why, stdout, stderr) =>
        resolve({ text: `${stdout}${stderr}`.trimEnd(), failed: why !== null }),
      );
    });
