import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { send } from '../api.ts';
import { listen } from '../comms.ts';
import { nodeInput } from '../flows.ts';
import { inject, payloadInput } from '../inject.ts';

export const watchDebug = defineTool({
  name: 'watch_debug',
  displayName: 'Watch debug messages',
  description:
    'Waits some seconds and answers what debug nodes print meanwhile, errors of nodes too. With inject it triggers that node first: the way to try a flow.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: {
    type: 'object',
    properties: {
      inject: { ...nodeInput, description: 'Id of an inject node to trigger. Default: only watch.' },
      payload: payloadInput,
      seconds: { type: 'number', minimum: 0.2, maximum: 25, default: 3, description: 'How long to wait.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: 20,
        description: 'Ends early with so many messages.',
      },
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      messages: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            node: { type: 'string', description: 'Id of the node that printed it.' },
            name: { type: 'string' },
            property: { type: 'string', description: 'What of the message is printed.' },
            format: {
              type: 'string',
              description: 'Its type, such as string[5], number or Object; error for failures.',
            },
            value: { type: 'string', description: 'Objects as JSON.' },
          },
          required: ['node', 'name', 'property', 'format', 'value'],
        },
      },
    },
    required: ['messages'],
  },
  arrayPath: '.messages',
  async handle({ inject: node, payload, seconds, limit }, { signal }) {
    (await send('settings', {}, signal)).string('version'); // what is no Node-RED prints nothing either
    const debug = await listen('debug', signal);
    try {
      if (node !== undefined) await inject(node, payload, signal);
      await debug.until(({ length }) => length >= limit, seconds * 1000, signal);
      return { messages: debug.messages.slice(0, limit).map(printed) };
    } finally {
      debug.close();
    }
  },
});

/** What a debug node printed; an error has neither name nor property. */
function printed(from: JsonReader) {
  const text = (name: string) => from.maybe(name)?.string() ?? '';
  // The runtime's own levels: 20 is an error, 30 a warning.
  const level = from.maybe('level')?.number();
  const value = from.maybe('msg')?.value ?? null;
  return {
    node: from.string('id'),
    name: text('name'),
    property: text('property'),
    format: level === 20 ? 'error' : level === 30 ? 'warning' : text('format'),
    value: typeof value === 'string' ? value : JSON.stringify(value),
  };
}
