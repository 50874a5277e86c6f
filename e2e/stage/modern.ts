// An agent of the second generation: the official client that speaks both eras.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Closing } from './closing.ts';
import { binary } from './paths.ts';
import type { Relay } from './relay.ts';

export type Era = 'legacy' | 'modern';
export type Transport = 'stdio' | 'HTTP';

/** Connects the official client 2 over one transport, in one era; over HTTP as a new client unless a token is given. */
export async function openClient2(
  relay: Relay,
  transport: Transport,
  era: Era,
  closing: Closing,
  token?: string,
): Promise<Client> {
  const client = new Client(
    { name: `e2e-2-${era}`, version: '1.0.0' },
    { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
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
