import { defineTool } from '@tabrelay/plugin-sdk';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import { pagingOutput, textInput, textPage } from '@tabrelay/plugin-sdk/paging';
import { file } from '../api.ts';
import { invalid } from '../failures.ts';
import { mustExist } from '../messages.ts';
import { folder, record, uid } from '../shape.ts';

const mostBytes = 1_000_000;

export const readAttachment = defineTool({
  name: 'read_attachment',
  displayName: 'Read attachment',
  description:
    'The content of an attachment, of 1 MB at most, in parts: text as it is, anything else as base64. read_message lists the attachments.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      folder,
      uid,
      part: { type: 'string', pattern: '^[0-9.]+$', description: 'The part, from read_message.' },
      ...textInput,
    },
    required: ['uid', 'part'],
    additionalProperties: false,
  },
  output: record(
    {
      type: { type: 'string', description: 'The media type.' },
      bytes: { type: 'integer' },
      text: { type: 'string', description: 'Of a text.' },
      base64: { type: 'string', description: 'Of anything else.' },
      totalChars: { type: 'integer', description: 'Of the text, or of the base64.' },
      nextOffset: pagingOutput.nextOffset,
    },
    'text',
    'base64',
    'nextOffset',
  ),
  async handle({ folder, uid, part, offset, maxChars }, { signal, maxBytes }) {
    await mustExist(folder, [uid], signal);
    const query = { _task: 'mail', _action: 'get', _uid: uid, _mbox: folder, _part: part, _download: 1 };
    const response = await file(query, signal);
    if (!response.headers.has('content-disposition')) throw invalidResponse('it is not a file to download');
    const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
    const content = new Uint8Array(await response.arrayBuffer());
    if (content.length > mostBytes) {
      throw invalid(`The attachment has ${content.length} bytes, and ${mostBytes} are read at most.`);
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
