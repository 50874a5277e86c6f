// The same as tape.ts for applications whose session is a cookie, which a page's script does not see. Each test has a
// tape: the requests the adapter makes, in order, and what the real application answered. To record them anew, serve
// one (e2e/sites/serve-*.ts) and name it:
//   TAPE_OF=http://127.0.0.1:… node --import tsx --test adapters/wordpress/test/*.test.ts

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type ToolContext, ToolError } from '@tabrelay/plugin-sdk';
import { Window } from 'happy-dom';

const recorded = 'http://app.test';
const network = globalThis.fetch;

interface Exchange {
  request: Text;
  status: number;
  type: string;
  body: Text;
}

/** Long ones are cut, so that a change of a tape can be read line by line. */
type Text = string | readonly string[];

const whole = (text: Text): string => (typeof text === 'string' ? text : text.join(''));
const inLines = (text: string): Text => (text.length > 50 ? (text.match(/.{1,50}/gsu) ?? []) : text);

export interface Recording {
  /** The adapter's testdata folder. */
  folder: string;
  /** Address of a running application, when its answers are to be recorded. */
  live: string | undefined;
  /** Signs the person in, past the adapter; its cookies are the session's. */
  signIn?: (session: Session) => Promise<void>;
  /** The page that is open. */
  page: (origin: string) => string;
  /** Blanks what differs from one recording to the next. */
  blank: (text: string) => string;
}

/** A test whose requests go to the application, or to the tape of the test's name. */
export function tapeTest(
  name: string,
  recording: Recording,
  play: (ctx: ToolContext) => Promise<void>,
): void {
  test(name, async () => {
    const { folder, live, blank } = recording;
    const file = path.join(folder, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.json`);
    const origin = live ?? recorded;
    const session = live === undefined ? undefined : new Session(live);
    if (session) await recording.signIn?.(session);
    const tape: Exchange[] = session ? [] : JSON.parse(readFileSync(file, 'utf8'));
    const window = new Window({ url: `${origin}/` });
    window.document.write(recording.page(origin));
    const { document, location, DOMParser, Node } = window;
    const anonymous = (text: string) => blank(text.replaceAll(new URL(origin).host, new URL(recorded).host));
    Object.assign(globalThis, { document, location, DOMParser, Node });
    globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const asked = anonymous(`${request.method} ${request.url}\n${await request.clone().text()}`);
      if (session) {
        const [exchange, response] = await record(session, request, asked);
        tape.push({ ...exchange, request: inLines(asked), body: inLines(anonymous(whole(exchange.body))) });
        return response;
      }
      const next = tape.shift();
      assert.ok(next, `the tape is at its end, and the adapter asks ${asked}`);
      assert.equal(asked, whole(next.request));
      return answer(next);
    };
    await play(context);
    if (!session) return assert.equal(tape.length, 0, 'the adapter made fewer requests than the tape has');
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, `${JSON.stringify(tape, null, 2)}\n`);
  });
}

/** Cookies, as a browser keeps them. */
export class Session {
  readonly origin: string;
  readonly #cookies = new Map<string, string>();

  constructor(origin: string) {
    this.origin = origin;
  }

  async fetch(request: Request): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...Object.fromEntries(request.headers), cookie };
    const response = await network(new Request(request, { headers, redirect: 'manual' }));
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const next = response.headers.get('location');
    return next === null ? response : this.fetch(new Request(new URL(next, request.url)));
  }
}

async function record(session: Session, request: Request, asked: string): Promise<[Exchange, Response]> {
  const response = await session.fetch(request);
  const type = response.headers.get('content-type') ?? '';
  const exchange = { request: asked, status: response.status, type, body: await response.text() };
  return [exchange, answer(exchange)];
}

const answer = ({ body, status, type }: Exchange): Response =>
  new Response(whole(body), { status, headers: { 'content-type': type } });

/** The ToolError an action ends with. */
export async function failureOf(action: () => Promise<unknown> | unknown): Promise<ToolError> {
  try {
    await action();
  } catch (error) {
    assert.ok(error instanceof ToolError, String(error));
    return error;
  }
  return assert.fail('the action succeeded');
}

const context: ToolContext = {
  signal: new AbortController().signal,
  reportProgress() {},
  log: { debug() {}, info() {}, warn() {}, error() {} },
  settings: {},
  tab: { id: 1, url: recorded },
  frame: { url: recorded, top: true },
  idempotencyKey: 'test',
};
