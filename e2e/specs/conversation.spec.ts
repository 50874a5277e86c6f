// The same conversation with client libraries that were not written here. All of them understand the same.

import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { type Agent, httpAgent, stdioAgent } from '../stage/agent.ts';
import { Closing } from '../stage/closing.ts';
import { openClient2 } from '../stage/modern.ts';
import { buildGoClients } from '../stage/outside.ts';
import { binary, temporaryFolder } from '../stage/paths.ts';
import { changeTools, converse, converseOutside, expectUnderstood, type Talker } from '../stage/talk.ts';
import stageTest, { expect, type Stage } from '../stage/test.ts';

/** The conversation of the Go libraries, built once. */
const test = stageTest.extend<object, { goClients: string }>({
  goClients: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      await use(await buildGoClients(await temporaryFolder('go', closing)));
      await closing.close();
    },
    { scope: 'worker', timeout: 600_000 }, // it compiles everything where nothing was compiled before
  ],
});

const first = async (agent: Promise<Agent>): Promise<Talker> => {
  const { client } = await agent;
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  return {
    changed,
    version: () => client.getServerVersion()?.name ?? '',
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
  };
};

const second =
  (transport: 'stdio' | 'HTTP', era: 'legacy' | 'modern') =>
  async ({ relay, closing }: Stage): Promise<Talker> => {
    let tell = () => {};
    const changed = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const client = await openClient2(relay, transport, era, closing, { changed: () => tell() });
    return {
      changed,
      version: () => client.getProtocolEra() ?? '',
      tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
      call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    };
  };

const inNode: Record<string, (stage: Stage) => Promise<Talker>> = {
  'TypeScript SDK 1, stdio': ({ relay, closing }) => first(stdioAgent(relay, closing)),
  'TypeScript SDK 1, HTTP': async ({ relay, closing }) =>
    first(httpAgent(relay, await relay.token(), closing)),
  'TypeScript client 2, stdio, legacy': second('stdio', 'legacy'),
  'TypeScript client 2, stdio, modern': second('stdio', 'modern'),
  'TypeScript client 2, HTTP, legacy': second('HTTP', 'legacy'),
  'TypeScript client 2, HTTP, modern': second('HTTP', 'modern'),
};

/** A test's view of the shared stage: what it opens is closed with the test. */
const own = (stage: Stage, closing: Closing): Stage => ({ ...stage, closing });

for (const [name, open] of Object.entries(inNode)) {
  test(`${name} holds the conversation`, async ({ sharedStage, closing }) => {
    const stage = own(sharedStage, closing);
    await expectUnderstood(await converse(await open(stage), changeTools(stage)), stage);
  });
}

const inGo = [
  { library: 'go-sdk', version: '2026-07-28' },
  { library: 'go-sdk', version: '2025-11-25' },
  { library: 'mcp-go', version: '2025-11-25' },
];

for (const { library, version } of inGo) {
  for (const transport of ['stdio', 'HTTP']) {
    test(`${library}, ${version}, ${transport} holds the conversation`, async ({
      sharedStage,
      closing,
      goClients,
    }) => {
      const stage = own(sharedStage, closing);
      const { relay } = stage;
      const place =
        transport === 'stdio'
          ? ['-binary', binary]
          : ['-url', await relay.url('/mcp'), '-token', await relay.token()];
      const args = ['-library', library, '-protocol', version, ...place];
      const account = await converseOutside(goClients, args, relay.env, changeTools(stage));
      expect(account.version).toBe(version);
      await expectUnderstood(account, stage);
    });
  }
}
