import { defineTool } from '@tabrelay/plugin-sdk';
import { file } from '../api.ts';
import { invalid } from '../failures.ts';
import { mustExist } from '../messages.ts';
import { folder, record, uid } from '../shape.ts';

const maxBytes = 1_000_000;

export const readAttachment = defineTool({
  name: 'read_attachment',
  displayName: 'Read attachment',
  description:
    'The content of an attachment, of 1 MB at most: text as it is, anything else as base64. read_message lists the parts.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      folder,
      uid,
      part: { type: 'string', pattern: '^[0-9.]+$', description: 'The part, from read_message.' },
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
    },
    'text',
    'base64',
  ),
  async handle({ folder, uid, part }, { signal }) {
    await mustExist(folder, [uid], signal);
    const query = { _task: 'mail', _action: 'get', _uid: uid, _mbox: folder, _part: part, _download: 1 };
    const response = await file(query, signal);
    const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
    const content = new Uint8Array(await response.arrayBuffer());
    if (content.length > maxBytes) {
      throw invalid(`The attachment has ${content.length} bytes, and ${maxBytes} are read at most.`);
    }
    const readable = /^text\/|[/+](json|xml)$/.test(type);
    return {
      type,
      bytes: content.length,
      ...(readable ? { text: new TextDecoder().decode(content) } : { base64: base64(content) }),
    };
  },
});

function base64(content: Uint8Array): string {
  let binary = '';
  for (const byte of content) binary += String.fromCharCode(byte);
  return btoa(binary);
}
