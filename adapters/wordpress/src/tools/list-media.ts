import { defineTool } from '@tabrelay/plugin-sdk';
import { list } from '../api.ts';
import { file, fileOutput } from '../media.ts';
import { listOf, paging } from '../shape.ts';

export const listMedia = defineTool({
  name: 'list_media',
  displayName: 'List media',
  description: 'Lists or searches the files of the media library, newest first, with their addresses.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: {
    type: 'object',
    properties: {
      search: { type: 'string', minLength: 1, description: 'Words in title or description.' },
      kind: { enum: ['image', 'video', 'text', 'application', 'audio'], description: 'Only this kind.' },
      ...paging,
    },
    additionalProperties: false,
  },
  output: listOf(fileOutput),
  handle: ({ search, kind, limit, offset }, { signal, maxBytes }) =>
    list('/wp/v2/media', { limit, offset, maxBytes }, { search, media_type: kind }, file, signal),
});
