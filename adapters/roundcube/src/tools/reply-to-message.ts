import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { prepare, submit } from '../compose.ts';
import { mustExist } from '../messages.ts';
import { composed, folder, sentOutput, uid } from '../shape.ts';

export const replyToMessage = defineTool({
  name: 'reply_to_message',
  displayName: 'Reply to message',
  description:
    'Answers a message above its quoted text, in its thread, at once and for good; with draft it ' +
    'is only kept among the drafts. Show the person what you send first.',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  input: s.parameters({
    folder,
    uid,
    text: { ...composed.text, minLength: 1 },
    all: s.boolean('Also to everybody else who got it.', { default: false }),
    quote: s.boolean('Put the quoted message below.', { default: true }),
    draft: s.boolean('Keep it as a draft; send nothing.', { default: false }),
  }),
  output: sentOutput,
  async handle({ folder, uid, text, all, quote, draft }, { signal }) {
    await mustExist(folder, [uid], signal);
    const form = await prepare({ uid, folder, all }, signal);
    const { to, cc, subject } = form;
    const whole = quote ? `${text}\n\n${form.text}\n` : text;
    const { said } = await submit(form, { to, cc, subject, text: whole }, draft, signal);
    return { to: [to, cc].filter(Boolean).join(', '), subject, said };
  },
});
