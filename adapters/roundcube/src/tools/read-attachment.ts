import { defineTool } from '@tabrelay/plugin-sdk';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import { pagingOutput, textInput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { file } from '../api.ts';
import { invalid } from '../failures.ts';
import { mustExist } from '../messages.ts';
import { folder, uid } from '../shape.ts';

const mostBytes = 1_000_000;

export const readAttachment = defineTool({
  name: 'read_attachment',
  displayName: 'Read attachment',
  description:
    'The content of an attachment, of 1 MB at most: text as it is, anything else as base64. ' +
    'read_message lists them.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    folder,
    uid,
    part: s.string('The part, from read_message.', { pattern: '^[0-9.]+$' }),
    ...textInput,
  }),
  output: s.object({
    type: s.string('The media type.'),
    bytes: s.integer(),
    text: s.optional(s.string('Of a text.')),
    base64: s.optional(s.string('Of anything else.')),
    totalChars: s.integer('Of the text, or of the base64.'),
    nextOffset: s.optional(pagingOutput.nextOffset),
  }),
  async handle({ folder, uid, part, offset, maxChars }, { signal, maxBytes }) {
    await mustExist(folder, [uid], signal);
    const query = {
      _task: 'mail',
      _action: 'get',
      _uid: uid,
      _mbox: folder,
      _part: part,
      _download: 1,
    };
    const response = await file(query, signal);
    if (!response.headers.has('content-disposition'))
      throw invalidResponse('it is not a file to download');
    const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
    const content = new Uint8Array(await response.arrayBuffer());
    if (content.length > mostBytes) {
      throw invalid(
        `The attachment has ${content.length} bytes, and ${mostBytes} are read at most.`,
      );
    }
    const readable = /^text\/|[/+](json|xml)$/.test(type);
    const whole = readable ? new TextDecoder().decode(content) : base64(content);
    return textPage(whole, { offset, maxChars, maxBytes }, ({ text, ...paging }) => ({
      type,
      bytes: content.length,
      ...(readable ? { text } : { base64: text }),
      ...paging,
    }));
  },
});

function base64(content: Uint8Array): string {
  let binary = '';
  for (const byte of content) binary += String.fromCharCode(byte);
  return btoa(binary);
}
