import { defineTool } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';
import { number, text } from '../json.ts';
import { record } from '../shape.ts';

export const readSettings = defineTool({
  name: 'read_settings',
  displayName: 'Read settings',
  description:
    'The settings of the site: title, tagline, language, time zone, front page. Needs an administrator.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: record({
    title: { type: 'string' },
    tagline: { type: 'string' },
    url: { type: 'string' },
    email: { type: 'string', description: 'Of the administration.' },
    language: { type: 'string', description: 'Empty for English.' },
    timezone: { type: 'string' },
    postsPerPage: { type: 'integer' },
    frontPage: { type: 'string', description: 'posts, or page with frontPageId.' },
    frontPageId: { type: 'integer', description: '0 without one.' },
    commentsByDefault: { type: 'string', description: 'open or closed for new posts.' },
  }),
  async handle(_, { signal }) {
    const set = await get('/wp/v2/settings', {}, signal);
    return {
      title: text(set.title),
      tagline: text(set.description),
      url: text(set.url),
      email: text(set.email),
      language: text(set.language),
      timezone: text(set.timezone),
      postsPerPage: number(set.posts_per_page),
      frontPage: text(set.show_on_front),
      frontPageId: number(set.page_on_front),
      commentsByDefault: text(set.default_comment_status),
    };
  },
});
