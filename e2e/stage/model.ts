// A stand-in for a model behind the Messages API: it calls the tools that a test scripts, and keeps what it was shown.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Closing } from './closing.ts';
import { portOf } from './port.ts';

/** One tool call of the model, or its last words. */
export type Turn = { tool: string; input: Record<string, unknown> } | { say: string };

const Block = z.object({ type: z.string(), content: z.unknown().optional() });
const Request = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.union([z.string(), z.array(Block)]) })),
  tools: z.array(z.object({ name: z.string() })).default([]),
});

export interface Model {
  url: string;
  /** What the model was shown as the result of each of its tool calls, as text. */
  readonly results: string[];
}

/** Starts it. next is asked for a turn with the results so far; requests without tools are answered with a word. */
export async function openModel(
  closing: Closing,
  next: (results: readonly string[]) => Turn,
): Promise<Model> {
  const results: string[] = [];
  let calls = 0;
  const server = createServer(async (request, response) => {
    const body = Request.safeParse(JSON.parse((await text(request)) || '{}'));
    if (!body.success || !request.url?.startsWith('/v1/messages')) {
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"type":"error","error":{"type":"not_found_error","message":"none"}}');
      return;
    }
    const shown = body.data.messages
      .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => plain(content));
    if (shown.length > results.length) results.push(...shown.slice(results.length));
    const turn = body.data.tools.length === 0 ? { say: 'ok' } : next(results);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events(turn, `toolu_${++calls}`))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${portOf(server.address())}`, results };
}

function plain(content: unknown): string {
  const blocks = z.array(z.object({ type: z.string(), text: z.string().optional() })).safeParse(content);
  return blocks.success
    ? blocks.data.map((block) => block.text ?? `[${block.type}]`).join('\n')
    : String(content);
}

function* events(turn: Turn, id: string) {
  const message = {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: 'stand-in',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  yield { type: 'message_start', message };
  const [block, delta] =
    'say' in turn
      ? [
          { type: 'text', text: '' },
          { type: 'text_delta', text: turn.say },
        ]
      : [
          { type: 'tool_use', id, name: turn.tool, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) },
        ];
  yield { type: 'content_block_start', index: 0, content_block: block };
  yield { type: 'content_block_delta', index: 0, delta };
  yield { type: 'content_block_stop', index: 0 };
  yield {
    type: 'message_delta',
    delta: { stop_reason: 'say' in turn ? 'end_turn' : 'tool_use', stop_sequence: null },
    usage: { output_tokens: 1 },
  };
  yield { type: 'message_stop' };
}
