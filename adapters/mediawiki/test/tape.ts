// Plays the adapter against a recorded wiki. Each test has a tape: the requests it makes, in order, and what a real
// MediaWiki answered. To record them anew, serve a fresh wiki and name it:
//   npx tsx e2e/sites/serve-wiki.ts
//   WIKI=http://127.0.0.1:… npm test -w adapters

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { ToolContext } from '@tabrelay/plugin-sdk';
import { Window } from 'happy-dom';
import { Session } from './session.ts';

const recorded = 'http://wiki.test';
const live = process.env.WIKI;

interface Exchange {
  method: string;
  params: Record<string, string>;
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface Stage {
  ctx: ToolContext;
  /** Somebody else edits a page meanwhile. Their requests are not on the tape. */
  meanwhile(title: string, text: string): Promise<void>;
}

export interface Options {
  /** Who is signed in to the wiki. */
  as?: 'Alice';
  /** The page that is open. Default: one with the link that tells where the API is. */
  page?: (origin: string) => string;
}

const ordinaryPage = (origin: string) => `<link rel="EditURI" href="${origin}/api.php?action=rsd">`;

/** A test whose requests go to the wiki, or to the tape of the test's name. */
export function wikiTest(name: string, options: Options, play: (stage: Stage) => Promise<void>): void {
  test(name, async () => {
    const file = path.join(
      import.meta.dirname,
      '../testdata',
      `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.json`,
    );
    const origin = live ?? recorded;
    const session = live === undefined ? undefined : await Session.open(live, options.as);
    const tape = session ? [] : readTape(file);
    const window = new Window({ url: `${origin}/index.php` });
    window.document.write((options.page ?? ordinaryPage)(origin));
    Object.assign(globalThis, {
      document: window.document,
      location: window.location,
      DOMParser: window.DOMParser,
      Node: window.Node,
      fetch: session ? recorder(session, tape) : player(tape),
    });
    await play({
      ctx: context(),
      meanwhile: async (title, text) => {
        if (live) await (await Session.open(live, 'Bob')).edit(title, text);
      },
    });
    if (session) writeTape(file, tape);
    else assert.equal(tape.length, 0, 'the adapter made fewer requests than the tape has');
  });
}

const context = (): ToolContext => {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const tab = { id: 1, url: recorded };
  return {
    signal: new AbortController().signal,
    reportProgress() {},
    log,
    settings: {},
    tab,
    frame: { url: recorded, top: true },
    idempotencyKey: 'test',
  };
};

function recorder(session: Session, tape: Exchange[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const method = request.method;
    const params = await readParams(request.clone());
    const response = await session.fetch(request);
    const body = await response.text();
    const headers = Object.fromEntries([...response.headers].filter(([name]) => kept.includes(name)));
    tape.push({ method, params, status: response.status, headers, body });
    return new Response(body, { status: response.status, headers });
  };
}

const kept = ['content-type', 'retry-after'];

function player(tape: Exchange[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const next = tape.shift();
    assert.ok(next, `the tape is at its end, and the adapter asks ${request.url}`);
    assert.deepEqual(
      { method: request.method, params: await readParams(request) },
      { method: next.method, params: next.params },
    );
    return new Response(next.body, { status: next.status, headers: next.headers });
  };
}

/** The parameters, from the query and the body. What differs from one recording to the next is blanked. */
async function readParams(request: Request): Promise<Record<string, string>> {
  const params = new URLSearchParams(new URL(request.url).search);
  const isForm = request.headers.get('content-type')?.startsWith('multipart/') ?? false;
  const body = isForm ? await request.formData() : new URLSearchParams(await request.text());
  for (const [name, value] of body) params.set(name, typeof value === 'string' ? value : value.name);
  if (params.has('token')) params.set('token', 'TOKEN');
  return Object.fromEntries(params);
}

function readTape(file: string): Exchange[] {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeTape(file: string, tape: Exchange[]): void {
  const text = JSON.stringify(tape, null, 2).replaceAll(
    new URL(live ?? recorded).host,
    new URL(recorded).host,
  );
  mkdirSync(path.dirname(file), { recursive: true });
  // Tokens of a wiki that is gone by now, blanked so that they worry nobody.
  writeFileSync(file, `${text.replaceAll(/[0-9a-f]{40}\+/g, 'TOKEN+')}\n`);
}
