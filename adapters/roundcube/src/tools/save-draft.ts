import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { prepare, submit } from '../compose.ts';
import { composed, sentOutput } from '../shape.ts';

export const saveDraft = defineTool({
  name: 'save_draft',
  displayName: 'Save draft',
  description:
    'Writes a mail without sending it: a plain-text message in the drafts, where the person finds, ' +
    'changes and sends it.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters(composed),
  output: sentOutput,
  async handle(message, { signal }) {
    const { said } = await submit(await prepare(undefined, signal), message, true, signal);
    return { to: message.to, subject: message.subject, said };
  },
});
