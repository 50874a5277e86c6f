// Plays an adapter against recorded answers. Each test has a tape: the requests it makes, in order, and what the real
// application answered. To record anew, serve a fresh application and name it, such as
//   npx tsx e2e/sites/serve.ts prometheus
//   PROMETHEUS=http://127.0.0.1:… npm test -w adapters

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { type ToolContext, ToolError } from '@tabrelay/plugin-sdk';
import { Window } from 'happy-dom';

export interface Application {
  /** Its folder here; in capitals, the variable of the environment with the origin to record from. */
  name: string;
  /** The localStorage of a person who is signed in; a sign-in that was recorded must not be a secret. */
  signedIn?: (live: string | undefined) => Promise<Record<string, string>>;
  /** Parameters of requests that differ from one recording to the next. */
  volatile?: readonly string[];
}

export interface Tape {
  ctx: ToolContext;
  /** Takes the person's session away. */
  signOut(): void;
}

interface Exchange {
  method: string;
  path: string;
  body: string;
  status: number;
  headers: Record<string, string>;
  answer: string;
}

const network = globalThis.fetch;

/** A test whose requests go to the application, or to the tape of the test's name. */
export function tapeTest(app: Application, name: string, play: (tape: Tape) => Promise<void>): void {
  test(`${app.name}: ${name}`, async () => {
    const slug = name.replaceAll(/[^a-z0-9]+/gi, '-');
    const file = path.join(import.meta.dirname, app.name, 'testdata', `${slug}.json`);
    const live = process.env[app.name.toUpperCase().replaceAll('-', '_')];
    const recorded = `http://${app.name}.test`;
    const origin = live === undefined ? recorded : new URL(live).origin;
    const exchanges: Exchange[] = live === undefined ? JSON.parse(readFileSync(file, 'utf8')) : [];
    const window = new Window({ url: `${origin}/` });
    for (const [key, value] of Object.entries((await app.signedIn?.(live)) ?? {})) {
      window.localStorage.setItem(key, value);
    }
    const { document, location, localStorage } = window;
    const fetch = live === undefined ? player(exchanges, app) : recorder(exchanges, app);
    // What a WebSocket said is on no tape.
    const WebSocket = undefined;
    Object.assign(globalThis, { window, document, location, localStorage, fetch, WebSocket });
    await play({ ctx: context(origin), signOut: () => window.localStorage.clear() });
    if (live === undefined) {
      assert.equal(exchanges.length, 0, 'the adapter made fewer requests than the tape has');
      return;
    }
    mkdirSync(path.dirname(file), { recursive: true });
    const text = JSON.stringify(exchanges, null, 2).replaceAll(new URL(live).host, new URL(recorded).host);
    writeFileSync(file, `${text}\n`);
  });
}

/** The ToolError an action ends with. */
export async function failureOf(action: Promise<unknown> | unknown): Promise<ToolError> {
  try {
    await action;
  } catch (error) {
    assert.ok(error instanceof ToolError, String(error));
    return error;
  }
  return assert.fail('the action succeeded');
}

function recorder(tape: Exchange[], app: Application): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const asked = await question(request.clone(), app);
    const response = await network(request);
    const answer = await response.text();
    const headers = { 'content-type': response.headers.get('content-type') ?? '' };
    tape.push({ ...asked, status: response.status, headers, answer });
    return new Response(answer || null, { status: response.status, headers });
  };
}

function player(tape: Exchange[], app: Application): typeof fetch {
  return async (input, init) => {
    const asked = await question(new Request(input, init), app);
    const next = tape.shift();
    assert.ok(next, `the tape is at its end, and the adapter asks ${asked.path}`);
    const { status, headers, answer, ...recorded } = next;
    assert.deepEqual(asked, recorded);
    return new Response(answer || null, { status, headers });
  };
}

async function question(request: Request, { volatile = [] }: Application) {
  const url = new URL(request.url);
  for (const name of volatile) {
    if (url.searchParams.has(name)) url.searchParams.set(name, 'any');
  }
  return { method: request.method, path: url.pathname + url.search, body: await request.text() };
}

function context(url: string): ToolContext {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const { signal } = new AbortController();
  const frame = { url, top: true };
  return {
    signal,
    reportProgress() {},
    log,
    settings: {},
    tab: { id: 1, url },
    frame,
    idempotencyKey: 'test',
  };
}
