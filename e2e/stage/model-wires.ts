// What three kinds of providers speak, and a fourth that Codex wants, as far as a stand-in for their models needs it:
// how a request is read, and how an answer is streamed.

import { z } from 'zod';

/** What a model is shown: a conversation so far. */
export interface Conversation {
  model: string;
  system: string;
  /** Names of the tools that it may call. */
  tools: readonly string[];
  /** What it was told by who speaks with it. */
  prompts: readonly string[];
  /** What its calls of tools were answered, in the order of the conversation. */
  results: readonly { tool: string; text: string }[];
}

export interface ToolCall {
  tool: string;
  input: Record<string, unknown>;
}

/** What a model answers: words, calls of tools, or both. */
interface Said {
  text: string;
  calls: readonly ToolCall[];
  usage: { input: number; output: number };
  /** Makes the ids of this answer different from those of others. */
  number: number;
}

export interface Wire {
  /** Where it is spoken. */
  path: RegExp;
  /** Reads a request; path is the address it came to. */
  read(body: unknown, path: string): Conversation;
  /** The answer, in the pieces in which it is sent. */
  stream(said: Said): string[];
  /** The body of an answer that is a failure. */
  failure(status: number): unknown;
}

const line = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

/** A text in two pieces, as it comes when it is streamed. */
const halves = (text: string): string[] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
};

/** Names the tool of each result by the call that it answers. */
function named(calls: ReadonlyMap<string, string>, id: string, text: string) {
  return { tool: calls.get(id) ?? '', text };
}

const Words = z.union([z.string(), z.null(), z.array(z.looseObject({ text: z.string().optional() }))]);

const plain = (content: z.infer<typeof Words> | undefined): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('\n');

const ChatRequest = z.object({
  model: z.string(),
  stream: z.literal(true),
  messages: z.array(
    z.object({
      role: z.enum(['system', 'user', 'assistant', 'tool']),
      content: Words.optional(),
      tool_call_id: z.string().optional(),
      tool_calls: z
        .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
        .default([]),
    }),
  ),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).default([]),
});

const chat: Wire = {
  path: /^\/v1\/chat\/completions$/,
  read(body) {
    const { model, messages, tools } = ChatRequest.parse(body);
    const of = (role: string) => messages.filter((message) => message.role === role);
    const calls = new Map(
      messages.flatMap(({ tool_calls }) =>
        tool_calls.map(({ id, function: { name } }) => [id, name] as const),
      ),
    );
    return {
      model,
      system: of('system')
        .map(({ content }) => plain(content))
        .join('\n'),
      tools: tools.map((tool) => tool.function.name),
      prompts: of('user').map(({ content }) => plain(content)),
      results: of('tool').map((one) => named(calls, one.tool_call_id ?? '', plain(one.content))),
    };
  },
  stream({ text, calls, usage, number }) {
    const chunk = (delta: unknown, finish: string | null = null) =>
      line({
        id: `chatcmpl-${number}`,
        model: 'stand-in',
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...halves(text).map((content) => chunk({ content })),
      ...calls.flatMap(({ tool, input }, index) => [
        chunk({
          tool_calls: [
            {
              index,
              id: `call_${number}_${index}`,
              type: 'function',
              function: { name: tool, arguments: '' },
            },
          ],
        }),
        ...halves(JSON.stringify(input)).map((half) =>
          chunk({ tool_calls: [{ index, function: { arguments: half } }] }),
        ),
      ]),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      line({
        id: `chatcmpl-${number}`,
        choices: [],
        usage: { prompt_tokens: usage.input, completion_tokens: usage.output },
      }),
      'data: [DONE]\n\n',
    ];
  },
  failure: (status) => ({ error: { message: `this is a ${status}`, type: 'server_error', code: null } }),
};

const MessagesRequest = z.object({
  model: z.string(),
  system: Words.optional(),
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.union([
        z.string(),
        z.array(
          z.looseObject({
            type: z.string(),
            text: z.string().optional(),
            id: z.string().optional(),
            name: z.string().optional(),
            tool_use_id: z.string().optional(),
            content: Words.optional(),
          }),
        ),
      ]),
    }),
  ),
  tools: z.array(z.object({ name: z.string() })).default([]),
});

const messages: Wire = {
  path: /^\/v1\/messages$/,
  read(body) {
    const request = MessagesRequest.parse(body);
    const said = request.messages.flatMap(({ role, content }) =>
      typeof content === 'string'
        ? [{ role, type: 'text', text: content }]
        : content.map((one) => ({ role, ...one })),
    );
    const calls = new Map(said.map(({ id = '', name = '' }) => [id, name] as const));
    return {
      model: request.model,
      system: [
        plain(request.system),
        ...said.filter(({ role }) => role === 'system').map(({ text = '' }) => text),
      ].join('\n'),
      tools: request.tools.map(({ name }) => name),
      prompts: said
        .filter(({ role, type }) => role === 'user' && type === 'text')
        .map(({ text = '' }) => text),
      results: said
        .filter(({ type }) => type === 'tool_result')
        .map(({ tool_use_id = '', content }) => named(calls, tool_use_id, plain(content))),
    };
  },
  stream({ text, calls, usage, number }) {
    const event = (type: string, data: object) => `event: ${type}\n${line({ type, ...data })}`;
    const block = (index: number, content_block: object, deltas: readonly object[]) => [
      event('content_block_start', { index, content_block }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ];
    const first = text === '' ? 0 : 1;
    return [
      event('message_start', {
        message: {
          ...{ id: `msg_${number}`, type: 'message', role: 'assistant', model: 'stand-in', content: [] },
          ...{
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: usage.input, output_tokens: 1 },
          },
        },
      }),
      ...(text === ''
        ? []
        : block(
            0,
            { type: 'text', text: '' },
            halves(text).map((half) => ({ type: 'text_delta', text: half })),
          )),
      ...calls.flatMap(({ tool, input }, n) =>
        block(
          first + n,
          { type: 'tool_use', id: `toolu_${number}_${n}`, name: tool, input: {} },
          halves(JSON.stringify(input)).map((half) => ({ type: 'input_json_delta', partial_json: half })),
        ),
      ),
      event('message_delta', {
        delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage: { output_tokens: usage.output },
      }),
      event('message_stop', {}),
    ];
  },
  failure: (status) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'api_error', message: `this is a ${status}` },
  }),
};

const Part = z.looseObject({
  text: z.string().optional(),
  functionResponse: z.object({ name: z.string(), response: z.record(z.string(), z.unknown()) }).optional(),
});

const GenerateRequest = z.object({
  contents: z.array(z.object({ role: z.string().optional(), parts: z.array(Part) })),
  systemInstruction: z.object({ parts: z.array(Part) }).optional(),
  tools: z
    .array(z.object({ functionDeclarations: z.array(z.object({ name: z.string() })).default([]) }))
    .default([]),
});

const generate: Wire = {
  path: /^\/v1beta\/models\/[^/]+:streamGenerateContent\?alt=sse$/,
  read(body, path) {
    const { contents, systemInstruction, tools } = GenerateRequest.parse(body);
    const parts = contents.flatMap((content) =>
      content.parts.map((part) => ({ role: content.role, ...part })),
    );
    return {
      model: /models\/([^/:]+)/.exec(path)?.[1] ?? '',
      system: (systemInstruction?.parts ?? []).map(({ text }) => text ?? '').join('\n'),
      tools: tools.flatMap((one) => one.functionDeclarations.map(({ name }) => name)),
      prompts: parts.flatMap(({ role, text }) => (role === 'user' && text !== undefined ? [text] : [])),
      results: parts.flatMap(({ functionResponse: one }) =>
        one === undefined
          ? []
          : [
              {
                tool: one.name,
                text: Object.values(one.response)
                  .map((value) => String(value))
                  .join('\n'),
              },
            ],
      ),
    };
  },
  stream({ text, calls, usage, number }) {
    const chunk = (parts: readonly object[], more: object = {}) =>
      line({
        responseId: `response-${number}`,
        modelVersion: 'stand-in',
        candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
        usageMetadata: { promptTokenCount: usage.input, candidatesTokenCount: usage.output },
      });
    return [
      ...halves(text).map((half) => chunk([{ text: half }])),
      ...calls.map(({ tool, input }) => chunk([{ functionCall: { name: tool, args: input } }])),
      chunk([], { finishReason: 'STOP' }),
    ];
  },
  failure: (status) => ({
    error: {
      code: status,
      message: `this is a ${status}`,
      status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL',
    },
  }),
};

const Spoken = z.looseObject({ type: z.string(), text: z.string().optional() });

const ResponsesRequest = z.object({
  model: z.string(),
  stream: z.literal(true),
  instructions: z.string().default(''),
  input: z.array(
    z.looseObject({
      type: z.string(),
      role: z.string().optional(),
      content: z.array(Spoken).nullish(),
      name: z.string().optional(),
      call_id: z.string().optional(),
      output: z.union([z.string(), z.array(Spoken)]).optional(),
    }),
  ),
  tools: z
    .array(
      z.looseObject({
        name: z.string().default(''),
        tools: z.array(z.looseObject({ name: z.string() })).optional(), // of a namespace
      }),
    )
    .default([]),
});

/** Between the name of a namespace and that of a tool in it, as a test has them. */
const inNamespace = '/';

const responses: Wire = {
  path: /^\/v1\/responses$/,
  read(body) {
    const { model, instructions, input, tools } = ResponsesRequest.parse(body);
    const of = (...roles: string[]) =>
      input.filter(({ role = '' }) => roles.includes(role)).map(({ content }) => plain(content ?? ''));
    const calls = new Map(input.map(({ call_id = '', name = '' }) => [name && call_id, name] as const));
    return {
      model,
      system: [instructions, ...of('developer', 'system')].join('\n'),
      tools: tools.flatMap(({ name, tools: inside }) =>
        inside === undefined ? [name] : inside.map((tool) => name + inNamespace + tool.name),
      ),
      prompts: of('user'),
      results: input
        .filter(({ type }) => type === 'function_call_output')
        .map(({ call_id = '', output = '' }) => named(calls, call_id, plain(output))),
    };
  },
  stream({ text, calls, usage, number }) {
    const event = (type: string, data: object) => `event: ${type}\n${line({ type, ...data })}`;
    const response = { id: `resp_${number}`, model: 'stand-in' };
    const items = [
      ...(text === ''
        ? []
        : [
            { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] },
          ]),
      ...calls.map(({ tool, input }, n) => ({
        type: 'function_call',
        ...{ call_id: `call_${number}_${n}`, arguments: JSON.stringify(input) },
        ...(tool.includes(inNamespace)
          ? { namespace: tool.split(inNamespace)[0], name: tool.split(inNamespace)[1] }
          : { name: tool }),
      })),
    ].map((item, n) => ({ id: `item_${number}_${n}`, ...item }));
    return [
      event('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      ...items.map((item, output_index) => event('response.output_item.done', { output_index, item })),
      event('response.completed', {
        response: {
          ...response,
          ...{ status: 'completed', output: items },
          usage: {
            ...{ input_tokens: usage.input, output_tokens: usage.output },
            total_tokens: usage.input + usage.output,
          },
        },
      }),
    ];
  },
  failure: chat.failure,
};

/** By the kind that config.json has for providers that speak it; config.json knows no `responses`. */
export const wires = { openai: chat, anthropic: messages, gemini: generate, responses } as const;

export const kinds = ['openai', 'anthropic', 'gemini'] as const;

export type Kind = (typeof kinds)[number];
