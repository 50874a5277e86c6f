// What every server can do, by whatever names: the words in which the agent thinks.

import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { tokens } from '../../stage/tokens.ts';
import type { Reader, Thing } from './view.ts';
import { View } from './view.ts';

export interface Answer {
  text: string;
  failed: boolean;
  /** It failed because a reference is dead. */
  stale: boolean;
}

export interface Fill {
  thing: Thing;
  value: string | number | boolean;
}

const Result = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  isError: z.boolean().optional(),
});

export abstract class Driver {
  view: View;
  /** Whether the view is how the page was after the last act. */
  current = false;
  calls = 0;
  tokens = 0;
  /** Every call and its answer, for who wants to know why. */
  readonly log: string[] = [];
  /** Where the server may read files, when not everywhere. */
  readonly files: string | undefined;
  readonly #client: Client;

  constructor(client: Client, reader: Reader, files?: string) {
    this.#client = client;
    this.files = files;
    this.view = new View(reader);
  }

  abstract go(url: string): Promise<Answer>;
  abstract look(): Promise<Answer>;
  abstract search(words: string): Promise<Answer>;
  abstract click(thing: Thing, how: { yes: boolean; double: boolean }): Promise<Answer>;
  abstract fill(fields: readonly Fill[], submit: boolean): Promise<Answer>;
  abstract press(keys: string): Promise<Answer>;
  abstract hover(thing: Thing): Promise<Answer>;
  abstract drag(from: Thing, to: Thing): Promise<Answer>;
  abstract upload(thing: Thing, file: string): Promise<Answer>;
  abstract scroll(thing: Thing, y: number): Promise<Answer>;
  /** Brings a slider of the page's own from one value to another, one step each. */
  abstract slide(thing: Thing, from: number, to: number): Promise<Answer>;
  abstract wait(words: string): Promise<Answer>;
  abstract other(): Promise<Answer>;
  abstract first(): Promise<Answer>;

  /** The thing in words, where an answer said that this is how to name what never lasts. */
  inWords(_thing: Thing, _near: string | undefined, _answer: Answer): Thing | undefined {
    return undefined;
  }

  /** Tokens of the list of tools: names, descriptions and input schemas. */
  async listTokens(): Promise<number> {
    const { tools } = await this.#client.listTools();
    return tools.reduce(
      (sum, { name, description, inputSchema }) =>
        sum + tokens(name) + tokens(description ?? '') + tokens(JSON.stringify(inputSchema)),
      0,
    );
  }

  protected async call(name: string, args: Record<string, unknown>, stale: RegExp): Promise<Answer> {
    this.calls++;
    const began = performance.now();
    const result = Result.parse(
      await this.#client.callTool({ name, arguments: args }, undefined, { timeout: 90_000 }),
    );
    const text = result.content.map((item) => item.text ?? `(${item.type})`).join('\n');
    this.tokens += tokens(name) + tokens(JSON.stringify(args)) + tokens(text);
    const took = Math.round(performance.now() - began);
    this.log.push(`> ${name} ${JSON.stringify(args)} (${took} ms)\n${text}`);
    const failed = result.isError ?? false;
    return { text, failed, stale: failed && stale.test(text) };
  }
}

/** An answer of several calls: the first that failed, or the last. */
export const joined = (answers: readonly Answer[]): Answer =>
  answers.find(({ failed }) => failed) ??
  answers.at(-1) ?? { text: 'nothing to do', failed: true, stale: false };
