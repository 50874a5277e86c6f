// The official client of the second generation against package front: what the suite does not look at.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Program, start } from '../stage/process.ts';
import { address, build } from './server.ts';

let folder: string;
let server: Program;
let url: URL;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'clients-'));
  server = start(await build(folder), []);
  url = new URL(await address(server));
});

after(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const said = 'User response: action=accept, content={"username":"ann","email":"ann@example.org"}';
const filledIn = { username: 'ann', email: 'ann@example.org' };

for (const era of ['modern', 'legacy'] as const) {
  test(`client 2, ${era}: hears of changes and answers questions`, { timeout: 60_000 }, async () => {
    const news = new EventEmitter();
    const [changed, prompts] = [once(news, 'tools'), once(news, 'prompts')];
    const client = new Client(
      { name: 'test', version: '1' },
      {
        capabilities: { elicitation: {} },
        versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
        listChanged: {
          tools: { onChanged: () => news.emit('tools'), autoRefresh: false },
          prompts: { onChanged: () => news.emit('prompts'), autoRefresh: false },
        },
      },
    );
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: filledIn }));
    await client.connect(new StreamableHTTPClientTransport(url));
    try {
      const before = (await client.listTools()).tools.length;
      await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
      await changed;
      assert.equal((await client.listTools()).tools.length, before + 1);
      await client.callTool({ name: 'test_trigger_prompt_change', arguments: {} });
      await prompts;
      const result = await client.callTool({
        name: 'test_elicitation',
        arguments: { message: 'Who are you?' },
      });
      assert.deepEqual(result.content, [{ type: 'text', text: said }]);
      // The client itself makes -32602 of the legacy era's -32002.
      await assert.rejects(client.readResource({ uri: 'test://nosuch' }), {
        code: -32602,
        message: /test:\/\/nosuch/,
      });
      const done = await client.complete({
        ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
        argument: { name: 'arg1', value: 'par' },
      });
      assert.deepEqual(done.completion.values, ['paris', 'park', 'party']);
    } finally {
      await client.close();
    }
  });
}
