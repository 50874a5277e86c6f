// An agent: the official MCP client, over stdio (`tabrelay mcp`) or over HTTP with a token.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { Answer } from './answer.ts';
import type { Closing } from './closing.ts';
import type { Relay } from './relay.ts';

export interface CallOptions {
  /** Aborting it cancels the call, as an agent does when its person presses escape. */
  signal?: AbortSignal;
  onprogress?: (progress: Progress) => void;
  /** `_meta["tabrelay/timeoutMs"]`. */
  timeoutMs?: number;
}

export class Agent {
  readonly client: Client;
  readonly #stdio: StdioClientTransport | undefined;

  constructor(client: Client, stdio?: StdioClientTransport) {
    this.client = client;
    this.#stdio = stdio;
  }

  async call(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<Answer> {
    const { timeoutMs, ...rest } = options;
    const _meta = {
      'tabrelay/structured': true,
      ...(timeoutMs !== undefined && { 'tabrelay/timeoutMs': timeoutMs }),
    };
    return new Answer(
      await this.client.callTool({ name, arguments: args, _meta }, undefined, { timeout: 120_000, ...rest }),
    );
  }

  /** Names of all tools. */
  async tools(): Promise<string[]> {
    return (await this.client.listTools()).tools.map((tool) => tool.name);
  }

  /** Ends the session over HTTP, as a client does that closes in order. */
  async endSession(): Promise<void> {
    const { transport } = this.client;
    if (!(transport instanceof StreamableHTTPClientTransport))
      throw new Error('this agent does not speak HTTP');
    await transport.terminateSession();
  }

  /** The process of `tabrelay mcp`. */
  get pid(): number {
    const pid = this.#stdio?.pid;
    if (typeof pid !== 'number') throw new Error('this agent does not speak stdio, or its process has ended');
    return pid;
  }
}

const identity = (name = 'e2e') => ({ name, version: '1.0.0' });

export async function stdioAgent(
  relay: Relay,
  closing: Closing,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
  called?: string,
): Promise<Agent> {
  const transport = new StdioClientTransport({
    command: relay.binary,
    args: ['mcp', ...flags],
    env: { ...relay.env, ...env },
    stderr: 'inherit',
  });
  const client = new Client(identity(called));
  closing.defer(() => client.close());
  await client.connect(transport);
  return new Agent(client, transport);
}

export async function httpAgent(relay: Relay, token: string, closing: Closing): Promise<Agent> {
  return agentAt(await relay.url('/mcp'), token, closing);
}

/** An agent that speaks MCP with what serves it at an address. */
export async function agentAt(url: string, token: string, closing: Closing): Promise<Agent> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  const client = new Client(identity());
  closing.defer(() => client.close());
  // The SDK's own transport types do not satisfy its Transport interface under exactOptionalPropertyTypes.
  await client.connect(transport);
  return new Agent(client);
}
