// An agent of the second generation: the official client that speaks both eras.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Closing } from './closing.ts';
import { binary } from './paths.ts';
import type { Relay } from './relay.ts';

export type Era = 'legacy' | 'modern';
export type Transport = 'stdio' | 'HTTP';

export interface Client2Options {
  /** The token over HTTP; that of a new client if left out. */
  token?: string;
  /** Called when the server says that its tools changed. */
  changed?: () => void;
}

/** Connects the official client 2 over one transport, in one era. */
export async function openClient2(
  relay: Relay,
  transport: Transport,
  era: Era,
  closing: Closing,
  { token, changed }: Client2Options = {},
): Promise<Client> {
  const client = new Client(
    { name: `e2e-2-${era}`, version: '1.0.0' },
    {
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
      ...(changed && { listChanged: { tools: { onChanged: changed, autoRefresh: false } } }),
    },
  );
  closing.defer(() => client.close());
  await client.connect(
    transport === 'stdio'
      ? new StdioClientTransport({ command: binary, args: ['mcp'], env: relay.env })
      : new StreamableHTTPClientTransport(new URL(await relay.url('/mcp')), {
          requestInit: { headers: { authorization: `Bearer ${token ?? (await relay.token())}` } },
        }),
  );
  return client;
}
