import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { send } from '../api.ts';
import { listen } from '../comms.ts';
import { nodeInput } from '../flows.ts';
import { inject, payloadInput } from '../inject.ts';

export const watchDebug = defineTool({
  name: 'watch_debug',
  displayName: 'Watch debug messages',
  description:
    'Waits some seconds and answers what debug nodes print meanwhile, errors of nodes too. ' +
    'With inject it triggers that node first: the way to try a flow.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  input: s.parameters({
    inject: s.optional({
      ...nodeInput,
      description: 'Id of an inject node to trigger. Default: only watch.',
    }),
    payload: s.optional(payloadInput),
    seconds: s.number('How long to wait.', { minimum: 0.2, maximum: 25, default: 3 }),
    limit: s.integer('Ends early after this many messages.', {
      minimum: 1,
      maximum: 100,
      default: 20,
    }),
  }),
  output: s.object({
    messages: s.array(
      s.object({
        node: s.string('Id of the node that printed it.'),
        name: s.string(),
        property: s.string('What of the message is printed.'),
        format: s.string('Its type, such as string[5], number or Object; error for failures.'),
        value: s.string('Objects as JSON.'),
      }),
    ),
  }),
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
