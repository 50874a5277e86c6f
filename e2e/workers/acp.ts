// An agent of the Agent Client Protocol, made of its official SDK, without a model. A prompt is lines: the name of a tool
// and its arguments as JSON, which it calls at the first MCP server it was given; "tools" lists them there; "pid" says
// the process; "may TITLE" asks for leave; anything else is said back. With HTTP as its argument it takes servers over
// HTTP, otherwise over stdio.

import { Writable } from 'node:stream';
import {
  type AgentContext,
  agent,
  type McpServer,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';

interface Session {
  client: Client | undefined;
  cancel: AbortController;
}

const http = process.argv.includes('http');
const sessions = new Map<string, Session>();

async function connect(servers: readonly McpServer[]): Promise<Client | undefined> {
  const [server] = servers;
  if (server === undefined) return undefined;
  const client = new Client({ name: 'acp-agent', version: '1.0.0' });
  if ('command' in server) {
    const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
    await client.connect(new StdioClientTransport({ command: server.command, args: server.args, env }));
  } else {
    const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } }),
    );
  }
  return client;
}

const Text = z.array(z.looseObject({ text: z.string().optional() }));

/** Carries out one line of a prompt and returns what there is to say. */
async function carryOut(line: string, { client, cancel }: Session, to: AgentContext, sessionId: string) {
  if (line === 'pid') return String(process.pid);
  if (line === 'tools')
    return (await client?.listTools())?.tools.map((tool) => tool.name).join(' ') ?? 'none';
  const [, title] = /^may (.*)$/.exec(line) ?? [];
  if (title !== undefined) {
    const { outcome } = await to.request(methods.client.session.requestPermission, {
      sessionId,
      toolCall: { toolCallId: 'asked', title, kind: 'execute', rawInput: { command: title } },
      options: [
        { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
        { optionId: 'no', name: 'Reject', kind: 'reject_once' },
      ],
    });
    return outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
  }
  const [, name, json] = /^(\w+__\w+) (\{.*\})$/.exec(line) ?? [];
  if (name === undefined || json === undefined || client === undefined) return line;
  const toolCall = { toolCallId: name, title: name, kind: 'other', rawInput: JSON.parse(json) } as const;
  await to.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate: 'tool_call', ...toolCall },
  });
  const { content, isError } = await client.callTool({ name, arguments: JSON.parse(json) }, undefined, {
    signal: cancel.signal,
    timeout: 120_000,
  });
  const status = isError === true ? 'failed' : 'completed';
  const update = { sessionUpdate: 'tool_call_update', toolCallId: name, status } as const;
  await to.notify(methods.client.session.update, { sessionId, update });
  return Text.parse(content)
    .map(({ text }) => text ?? '')
    .join('\n');
}

const input = new ReadableStream<Uint8Array>({
  start(controller) {
    process.stdin
      .on('data', (bytes: Buffer) => controller.enqueue(bytes))
      .on('end', () => controller.close());
  },
});

agent({ name: 'acp-agent' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { mcpCapabilities: { http } },
  }))
  .onRequest(methods.agent.session.new, async ({ params }) => {
    const sessionId = `session-${sessions.size + 1}`;
    sessions.set(sessionId, { client: await connect(params.mcpServers), cancel: new AbortController() });
    return { sessionId };
  })
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const session = sessions.get(sessionId);
    if (session === undefined) throw new Error(`there is no session ${sessionId}`);
    session.cancel = new AbortController();
    const { signal } = session.cancel;
    const lines = prompt.flatMap((block) => (block.type === 'text' ? block.text.split('\n') : []));
    for (const line of lines) {
      if (signal.aborted) break;
      const said = await carryOut(line, session, client, sessionId).catch((failure: unknown) =>
        String(failure),
      );
      const content = { type: 'text', text: `${said}\n` } as const;
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: 'agent_message_chunk', content },
      });
    }
    return { stopReason: signal.aborted ? 'cancelled' : 'end_turn' };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) =>
    sessions.get(params.sessionId)?.cancel.abort('cancelled'),
  )
  .connect(ndJsonStream(Writable.toWeb(process.stdout), input));
