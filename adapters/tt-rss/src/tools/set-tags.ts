import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act } from '../api.ts';
import { articleWithId } from '../articles.ts';
import { articleId } from '../shape.ts';

export const setTags = defineTool({
  name: 'set_tags',
  displayName: 'Set tags',
  description: 'Gives an article these tags in place of those it has. Tags are in lower case.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: s.parameters({
    id: articleId,
    tags: s.array(
      s.string({ minLength: 1, maxLength: 100, pattern: '^[^<,]+$' }),
      'All it is to have; none takes them off.',
      { maxItems: 50 },
    ),
  }),
  output: s.object({
    id: s.integer(),
    tags: s.array(s.string(), 'As they are now.', { maxItems: 50 }),
  }),
  async handle({ id, tags }, { signal }) {
    await articleWithId(id, signal);
    const change = { id, tags_str: tags.join(',') };
    const answer = await act('Article.setArticleTags', change, { signal });
    const now = answer.string('content_full').split(', ');
    // Where there are none it says so in words.
    return { id, tags: tags.length === 0 ? [] : now };
  },
});
