// What every server can do, by whatever names: the words in which the agent thinks.

import type { Caller } from './caller.ts';
import type { Reader, Thing } from './view.ts';
import { View } from './view.ts';

export interface Answer {
  text: string;
  failed: boolean;
  /** Nothing was done, because the thing was drawn anew. */
  stale: boolean;
}

export interface Fill {
  thing: Thing;
  value: string | number | boolean;
}

/** One of several things to do in one call. */
export type Step =
  | { click: Thing; yes: boolean }
  | { fill: readonly Fill[] }
  | { upload: Thing; file: string };

/** Of several things, how many were done. */
export interface Several extends Answer {
  done: number;
}

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
  readonly #caller: Caller;

  constructor(caller: Caller, reader: Reader, files?: string) {
    this.#caller = caller;
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

  /** A look at all words, where the usual one leaves out what one cannot act on. */
  words(): Promise<Answer> | undefined {
    return undefined;
  }

  /**
   * Does several things in one call, where the server has a tool for that; until: words to wait for after the last,
   * where it can.
   */
  several(_steps: readonly Step[], _until?: string): Promise<Several> | undefined {
    return undefined;
  }

  /** Goes to a page and waits for words of it, where that is one call; otherwise one looks for them later. */
  goUntil(url: string, _until: string): Promise<Answer> {
    return this.go(url);
  }

  /** Runs code that does several things. */
  async run(_code: string): Promise<Answer> {
    return { text: 'the server runs no code', failed: true, stale: false };
  }

  /** The thing in words, where an answer said that this is how to name what never lasts. */
  inWords(_thing: Thing, _near: string | undefined, _answer: Answer): Thing | undefined {
    return undefined;
  }

  /** Tokens of what the agent has to know before its first call. */
  known(): Promise<number> {
    return this.#caller.known();
  }

  protected async call(name: string, args: Record<string, unknown>, stale: RegExp): Promise<Answer> {
    this.calls++;
    const began = performance.now();
    const { text, failed, tokens } = await this.#caller.call(name, args);
    this.tokens += tokens;
    const took = Math.round(performance.now() - began);
    this.log.push(`> ${name} ${JSON.stringify(args)} (${took} ms)\n${text}`);
    return { text, failed, stale: failed && stale.test(text) };
  }
}

/** An answer of several calls: the first that failed, or the last. */
export const joined = (answers: readonly Answer[]): Answer =>
  answers.find(({ failed }) => failed) ??
  answers.at(-1) ?? { text: 'nothing to do', failed: true, stale: false };
