// A stand-in for a model behind the wires of providers: it answers what a test scripts, and keeps what it was
// shown. It tells the wire by the address that is asked.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Closing } from './closing.ts';
import { type Conversation, type Kind, type ToolCall, type Wire, wires } from './model-wires.ts';
import { portOf } from './port.ts';

/** What the model does when it is asked. */
export type Turn =
  | ToolCall
  | { say: string; calls?: readonly ToolCall[] }
  /** It fails with an HTTP status. */
  | { status: number; headers?: Record<string, string> }
  /** The connection ends after these words, before the end of the answer. */
  | { cut: string };

/** Says what the model does, from what it is shown; it may take its time. Gone ends when nobody waits any more. */
export type Script = (shown: Conversation, gone: AbortSignal) => Turn | Promise<Turn>;

/** One request, as it came. */
export interface Request {
  wire: keyof typeof wires;
  shown: Conversation;
  /** Headers of it, and its body as it was sent. */
  headers: Record<string, string | string[] | undefined>;
  body: string;
  /** What the model said that the request and its answer took, in tokens; nothing of one that failed. */
  usage: { input: number; output: number };
  /** Who asked did not wait for the whole answer. */
  abandoned: boolean;
}

export class Model {
  readonly url: string;
  readonly requests: Request[] = [];
  #script: Script;

  constructor(url: string, script: Script) {
    this.url = url;
    this.#script = script;
  }

  /** Forgets what it was shown, and follows another script from now on. */
  play(script: Script): void {
    this.#script = script;
    this.requests.length = 0;
  }

  /** What it was shown as the results of its calls, as text. */
  get results(): readonly string[] {
    const shown = this.requests.map((request) => request.shown.results.map((result) => result.text));
    return shown.reduce((longest, one) => (one.length > longest.length ? one : longest), []);
  }

  /** `providers` of config.json: one for each wire, named after it. */
  get providers(): Record<Kind, unknown> {
    const models = ['stand-in'];
    return {
      openai: { baseUrl: `${this.url}/v1`, models },
      anthropic: { baseUrl: this.url, models },
      gemini: { baseUrl: this.url, models },
    };
  }

  async answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const path = incoming.url ?? '';
    const body = await text(incoming);
    const kind = kindAt(path);
    if (kind === undefined) {
      const refusal = { type: 'error', error: { type: 'not_found_error', message: `nothing is at ${path}` } };
      outgoing.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
      return;
    }
    const wire = wires[kind];
    const shown = wire.read(JSON.parse(body), path);
    const request = {
      wire: kind,
      shown,
      headers: incoming.headers,
      body,
      abandoned: false,
      usage: { input: 0, output: 0 },
    };
    const number = this.requests.push(request);
    const gone = new AbortController();
    outgoing.on('close', () => {
      if (outgoing.writableFinished) return;
      request.abandoned = true;
      gone.abort('nobody waits any more');
    });
    // Programs ask for names of conversations and the like, too: without tools, it is nothing that a test is about.
    const turn = shown.tools.length === 0 ? { say: 'ok' } : await this.#script(shown, gone.signal);
    request.usage = send(wire, turn, outgoing, number, body.length);
  }
}

/** Opens it with the script that it follows at first. */
export async function openModel(closing: Closing, script: Script = () => ({ say: 'ok' })): Promise<Model> {
  const server = createServer(async (incoming, outgoing) => {
    await model.answer(incoming, outgoing).catch((failure: unknown) => {
      // What the stand-in does not understand fails the errand of the test, and says why.
      outgoing.writeHead(400, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ error: { type: 'invalid_request_error', message: String(failure) } }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  const model = new Model(`http://127.0.0.1:${portOf(server.address())}`, script);
  return model;
}

function kindAt(path: string): keyof typeof wires | undefined {
  const bare = path.replace(/\?beta=true$/, '');
  if (wires.openai.path.test(bare)) return 'openai';
  if (wires.anthropic.path.test(bare)) return 'anthropic';
  if (wires.responses.path.test(bare)) return 'responses';
  return wires.gemini.path.test(bare) ? 'gemini' : undefined;
}

function send(
  wire: Wire,
  turn: Turn,
  outgoing: ServerResponse,
  number: number,
  bytes: number,
): Request['usage'] {
  if ('status' in turn) {
    outgoing.writeHead(turn.status, { 'content-type': 'application/json', ...turn.headers });
    outgoing.end(JSON.stringify(wire.failure(turn.status)));
    return { input: 0, output: 0 };
  }
  const words = 'say' in turn ? turn.say : 'cut' in turn ? turn.cut : '';
  const calls = 'tool' in turn ? [turn] : 'calls' in turn ? (turn.calls ?? []) : [];
  const output = Math.ceil((words.length + JSON.stringify(calls).length) / 4);
  const usage = { input: Math.ceil(bytes / 4), output };
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  const pieces = wire.stream({ text: words, calls, usage, number });
  if ('cut' in turn) {
    const heard = words === '' ? [] : pieces.slice(0, Math.ceil(pieces.length / 2));
    outgoing.write(heard.join('') || ': nothing yet\n\n', () => outgoing.destroy());
    return { input: 0, output: 0 };
  }
  for (const piece of pieces) outgoing.write(piece);
  outgoing.end();
  return usage;
}
