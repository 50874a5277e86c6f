// A client that writes, and keeps an account of what it was told about each write.

import { type Agent, httpAgent, stdioAgent } from './agent.ts';
import { Answer } from './answer.ts';
import { Closing } from './closing.ts';
import { openClient2 } from './modern.ts';
import type { Relay } from './relay.ts';

/** What a client knows about a write: `doubt` when it cancelled, or when it got no answer. */
type Told = 'executed' | 'not_executed' | 'unknown' | 'doubt';

export interface Account {
  token: string;
  told: Told;
  /** Code of the failure, or what went wrong with the answer. */
  because: string;
  ms: number;
}

/** Protocol errors of a relay that takes no new work, in either era, and 404 of one that does not know the session. */
const refusals: unknown[] = [-32003, -31003, 404];

const wasRefused = (failure: unknown): boolean =>
  failure instanceof Error && 'code' in failure && refusals.includes(failure.code);

interface Line {
  call(params: { name: string; arguments: Record<string, unknown> }, signal: AbortSignal): Promise<Answer>;
}

type Dial = (closing: Closing) => Promise<Line>;

const first =
  (open: (closing: Closing) => Promise<Agent>): Dial =>
  async (closing) => {
    const agent = await open(closing);
    return { call: (params, signal) => agent.call(params.name, params.arguments, { signal }) };
  };

/** The ways in which clients reach a relay; HTTP clients use one token for all their connections. */
export async function dials(relay: Relay): Promise<Record<string, Dial>> {
  const token = await relay.token();
  return {
    'stdio-1': first((closing) => stdioAgent(relay, closing)),
    'stdio-2': first((closing) => stdioAgent(relay, closing)),
    http: first((closing) => httpAgent(relay, token, closing)),
    modern: async (closing) => {
      const client = await openClient2(relay, 'HTTP', 'modern', closing, { token });
      return {
        call: async (params, signal) =>
          new Answer(await client.callTool(params, { signal, timeout: 120_000 })),
      };
    },
    'modern-stdio': async (closing) => {
      const client = await openClient2(relay, 'stdio', 'modern', closing);
      return {
        call: async (params, signal) =>
          new Answer(await client.callTool(params, { signal, timeout: 120_000 })),
      };
    },
  };
}

export class Writer {
  readonly #dial: Dial;
  #closing = new Closing();
  #line: Promise<Line> | undefined;

  constructor(dial: Dial) {
    this.#dial = dial;
  }

  /** Writes once; cancels after `cancelAfter` ms if given. */
  async write(token: string, ms: number, cancelAfter: number | undefined): Promise<Account> {
    const line = await this.#connected();
    const cancel = new AbortController();
    const timer =
      cancelAfter === undefined ? undefined : setTimeout(() => cancel.abort('enough'), cancelAfter);
    const began = performance.now();
    const account = (told: Told, because: string) => ({
      token,
      told,
      because,
      ms: performance.now() - began,
    });
    try {
      const answer = await line.call({ name: 'tally__write', arguments: { token, ms } }, cancel.signal);
      return answer.failed
        ? account(answer.facts.outcome, String(answer.code))
        : account('executed', 'answered');
    } catch (failure) {
      if (cancel.signal.aborted) return account('doubt', 'cancelled');
      const refused = wasRefused(failure);
      if (!refused || String(failure).includes('session')) await this.close(); // the connection or its session is gone
      if (refused) return account('not_executed', 'refused by a relay that ends or has just begun');
      return account('doubt', String(failure).slice(0, 200));
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#line = undefined;
    const closing = this.#closing;
    this.#closing = new Closing();
    await closing.close().catch(() => {}); // saying goodbye to a relay that is gone fails
  }

  #connected(): Promise<Line> {
    this.#line ??= this.#redial(this.#closing);
    return this.#line;
  }

  /** Dials until there is somebody: a relay that was ended is started again by others. */
  async #redial(closing: Closing): Promise<Line> {
    for (const patience = performance.now() + 20_000; ; ) {
      try {
        return await this.#dial(closing);
      } catch (failure) {
        if (performance.now() > patience) throw failure;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
}
