// The official client of the first generation against package front: what the suite does not look at.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
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

test('client 1: hears of changes and answers questions', { timeout: 60_000 }, async () => {
  const news = new EventEmitter();
  const changed = once(news, 'tools');
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    news.emit('tools');
  });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: filledIn }));
  await client.connect(new StreamableHTTPClientTransport(url));
  try {
    await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
    await changed;
    const result = await client.callTool({
      name: 'test_elicitation',
      arguments: { message: 'Who are you?' },
    });
    assert.deepEqual(result.content, [{ type: 'text', text: said }]);
  } finally {
    await client.close();
  }
});
