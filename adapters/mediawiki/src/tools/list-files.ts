import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { fileOf, fileProperties } from '../files.ts';
import { limitInput } from '../pages.ts';

export const listFiles = defineTool({
  name: 'list_files',
  displayName: 'List files',
  description:
    'Pictures and other files of the wiki with address, type and size: the latest uploads, or ' +
    'those with a prefix.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    prefix: s.optional(
      s.string('How the name begins, without "File:"; then sorted by name.', { minLength: 1 }),
    ),
    limit: limitInput,
    after: s.optional(s.string('From next of the previous answer.')),
  }),
  output: s.object({
    files: s.array(s.object(fileProperties)),
    next: s.optional(s.string('Present when there are more.')),
  }),
  handle({ prefix, limit, after }, { signal, maxBytes }) {
    const order =
      prefix === undefined
        ? { aisort: 'timestamp', aidir: 'older' }
        : { aisort: 'name', aiprefix: prefix };
    const params = {
      action: 'query',
      list: 'allimages',
      ...order,
      aiprop: ['url', 'size', 'mime', 'user', 'timestamp'],
    };
    const read = (answer: JsonReader) =>
      answer.list('query', 'allimages').map((one) => fileOf(one, one.string('title')));
    return list(
      'ai',
      { limit, after, maxBytes },
      params,
      read,
      (files, rest) => ({ files, ...rest }),
      signal,
    );
  },
});
