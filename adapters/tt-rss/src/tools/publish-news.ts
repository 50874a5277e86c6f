import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act } from '../api.ts';
import { articlesMustExist } from '../articles.ts';
import { articleIds } from '../shape.ts';

export const publishNews = defineTool({
  name: 'publish_news',
  displayName: 'Publish news',
  description:
    "Puts articles into the person's published feed, which others may read, or takes them out.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: s.parameters({
    ids: articleIds,
    published: s.boolean('false takes them out.', { default: true }),
  }),
  output: s.object({ changed: s.integer('How many articles.') }),
  async handle({ ids, published }, { signal }) {
    await articlesMustExist(ids, signal);
    const change = { ids: ids.join(','), cmode: published ? 1 : 0 };
    await act('RPC.publishSelected', change, { signal });
    return { changed: ids.length };
  },
});
