// The protocol of 2026, spoken by its own official client: no session, every request says what it speaks.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Answer } from '../stage/answer.ts';
import { binary } from '../stage/paths.ts';
import { expect, type Stage, test } from '../stage/test.ts';

const transports = {
  stdio: ({ relay }: Stage) => new StdioClientTransport({ command: binary, args: ['mcp'], env: relay.env }),
  HTTP: async ({ relay }: Stage) =>
    new StreamableHTTPClientTransport(new URL(await relay.url('/mcp')), {
      requestInit: { headers: { authorization: `Bearer ${await relay.token()}` } },
    }),
};

for (const [transport, open] of Object.entries(transports)) {
  test(`the modern era over ${transport}: tools, a call, a failure, progress`, async ({
    sharedStage,
    closing,
  }) => {
    const client = new Client(
      { name: 'e2e-modern', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    closing.defer(() => client.close());
    await client.connect(await open(sharedStage));
    expect(client.getProtocolEra()).toBe('modern');
    expect(client.getInstructions()?.length).toBeLessThanOrEqual(2048);

    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('demo__hello');

    const hello = new Answer(await client.callTool({ name: 'demo__hello', arguments: { name: 'Ada' } }));
    expect(hello.structured).toMatchObject({ url: `${sharedStage.demo.url}/` });

    const thrown = { name: 'trouble__throw_tool_error', arguments: { factory: 'rate_limited' } };
    expect(new Answer(await client.callTool(thrown)).pageFields).toMatchObject({ retryAfterMs: 2000 });

    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => seen.push(progress);
    await client.callTool({ name: 'trouble__slow', arguments: { ms: 200, steps: 2 } }, { onprogress });
    expect(seen).toEqual([1, 2]);
  });
}
