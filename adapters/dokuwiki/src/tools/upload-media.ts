import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { fileNameOf, urlOf } from '../media.ts';
import { addFile } from '../upload.ts';

export const uploadMedia = defineTool({
  name: 'upload_media',
  displayName: 'Add picture or file',
  description:
    'Adds a picture or another file to the wiki, for use in pages as {{animals:fox.png}}. An existing one is ' +
    'never replaced: FILE_EXISTS.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: s.parameters({
    id: s.string('With its namespace and ending: "animals:fox.png".', { minLength: 3 }),
    contentBase64: s.string('The bytes of the file in base64.', {
      minLength: 4,
      maxLength: 8_000_000,
    }),
  }),
  output: s.object({ id: s.string('As the wiki writes it.'), url: s.string(), bytes: s.integer() }),
  async handle({ id, contentBase64 }, { signal }) {
    const bytes = bytesOf(contentBase64);
    const added = await addFile(fileNameOf(id), bytes, signal);
    return { id: added, url: urlOf(added), bytes: bytes.length };
  },
});

/** Decodes base64 (RFC 4648 section 4). */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
  } catch {
    throw ToolError.validation(
      'contentBase64 is not base64 (RFC 4648), or has a prefix such as "data:".',
    );
  }
}
