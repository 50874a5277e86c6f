import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { filesIn } from '../media.ts';

export const listMedia = defineTool({
  name: 'list_media',
  displayName: 'List files',
  description:
    'Pictures and other files in a namespace, and the namespaces below it; or, with a query, the files whose ' +
    'name matches there and below.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    namespace: s.string('Such as "animals"; empty for the top.', { default: '' }),
    query: s.optional(s.string('Part of the name, or a pattern: "*.png".', { minLength: 1 })),
    ...pagingInput,
  }),
  output: s.object({
    files: s.array(
      s.object({
        id: s.string(),
        size: s.string(),
        date: s.string('As the wiki shows it.'),
        pixels: s.optional(s.string('Width and height of a picture.')),
      }),
    ),
    namespaces: s.array(s.string()),
    ...pagingOutput,
  }),
  async handle({ namespace, query, limit, offset }, { signal, maxBytes }) {
    const inside = namespace.replaceAll(/^[\s:]+|[\s:]+$/g, '');
    const { files, namespaces } = await filesIn({ namespace: inside, query }, signal);
    const part = { limit, offset, maxBytes };
    return listPage(files, part, (some, paging) => ({ files: some, namespaces, ...paging }));
  },
});
