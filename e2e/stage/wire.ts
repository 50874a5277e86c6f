// Every byte that an agent gets, as it gets it: JSON-RPC over stdio without a client library between.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Closing } from './closing.ts';
import { binary } from './paths.ts';
import type { Relay } from './relay.ts';

const Message = z.looseObject({ id: z.union([z.number(), z.string(), z.null()]).optional() });

export type Message = z.infer<typeof Message>;

export class Wire {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #received = '';
  #id = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    if (!child.stdout) throw new Error('the process has no stdout');
    createInterface(child.stdout).on('line', (line) => {
      this.#received += `${line}\n`;
      const message = Message.parse(JSON.parse(line));
      if (typeof message.id === 'number') this.#waiting.get(message.id)?.(message);
    });
    child.stderr?.on('data', (text) => {
      this.#received += String(text);
    });
  }

  /** Everything that came: stdout and stderr of the process that an agent starts. */
  get received(): string {
    return this.#received;
  }

  async ask(method: string, params: Record<string, unknown> = {}): Promise<Message> {
    const id = ++this.#id;
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    this.send({ jsonrpc: '2.0', id, method, params });
    return await answered;
  }

  send(message: unknown): void {
    this.#child.stdin?.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}

/** Opens an attachment of the legacy era that hears every log message. */
export async function openWire(relay: Relay, closing: Closing): Promise<Wire> {
  const wire = new Wire(spawn(binary, ['mcp'], { env: { ...process.env, ...relay.env } }));
  closing.defer(() => wire.close());
  await wire.ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'wire', version: '1.0.0' },
  });
  wire.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await wire.ask('logging/setLevel', { level: 'debug' });
  return wire;
}
