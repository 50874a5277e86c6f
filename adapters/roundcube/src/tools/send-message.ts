import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { prepare, submit } from '../compose.ts';
import { composed, sentOutput } from '../shape.ts';

export const sendMessage = defineTool({
  name: 'send_message',
  displayName: 'Send message',
  description:
    'Sends a new plain-text message at once and for good. Show the person what you send first, or ' +
    'use save_draft.',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  input: s.parameters(composed),
  output: sentOutput,
  async handle(message, { signal }) {
    const { said } = await submit(await prepare(undefined, signal), message, false, signal);
    return { to: message.to, subject: message.subject, said };
  },
});
