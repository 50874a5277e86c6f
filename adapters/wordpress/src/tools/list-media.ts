import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { file, fileOutput } from '../media.ts';
import { listOf, paging } from '../shape.ts';

export const listMedia = defineTool({
  name: 'list_media',
  displayName: 'List media',
  description:
    'Lists or searches the files of the media library, newest first, with their addresses.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: s.parameters({
    search: s.optional(s.string('Words in title or description.', { minLength: 1 })),
    kind: s.optional(
      s.choice(['image', 'video', 'text', 'application', 'audio'], 'Only this kind.'),
    ),
    ...paging,
  }),
  output: listOf(fileOutput),
  handle: ({ search, kind, limit, offset }, { signal, maxBytes }) =>
    list('/wp/v2/media', { limit, offset, maxBytes }, { search, media_type: kind }, file, signal),
});
