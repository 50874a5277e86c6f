import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { call, post } from '../api.ts';
import { file, fileOutput } from '../media.ts';

export const uploadMedia = defineTool({
  name: 'upload_media',
  displayName: 'Upload media',
  description:
    'Puts a file into the media library, as text or as base64. Answers the address to use in a ' +
    'post.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({
    fileName: s.string('With its ending.', { pattern: '^[^/\\\\"\\r\\n]+\\.[A-Za-z0-9]+$' }),
    text: s.optional(s.string('The content of a text file.')),
    base64: s.optional(s.string('The content of any other file.', { maxLength: 8000000 })),
    title: s.optional(s.string('Default: the name.')),
    altText: s.optional(s.string('What a picture shows.')),
  }),
  output: fileOutput,
  async handle({ fileName, text, base64, title, altText }, { signal }) {
    if ((text === undefined) === (base64 === undefined))
      throw refused('Give text, or base64: one of them.');
    const body = new Blob([text ?? bytes(base64 ?? '')]);
    const name = encodeURIComponent(fileName);
    const headers = { 'content-disposition': `attachment; filename="${name}"` };
    const added = (await call('/wp/v2/media', { method: 'POST', body, headers }, signal)).at(
      'body',
    );
    if (title === undefined && altText === undefined) return file(added);
    return file(
      await post(`/wp/v2/media/${added.number('id')}`, { title, alt_text: altText }, signal),
    );
  },
});

function bytes(base64: string) {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    throw refused('base64 is not valid base64.');
  }
}

const refused = (message: string): ToolError =>
  new ToolError(message, 'VALIDATION_ERROR', { category: 'validation', outcome: 'not_executed' });
