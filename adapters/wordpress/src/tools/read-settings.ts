import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
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
      title: asText(set.title),
      tagline: asText(set.description),
      url: asText(set.url),
      email: asText(set.email),
      language: asText(set.language),
      timezone: asText(set.timezone),
      postsPerPage: asNumber(set.posts_per_page),
      frontPage: asText(set.show_on_front),
      frontPageId: asNumber(set.page_on_front),
      commentsByDefault: asText(set.default_comment_status),
    };
  },
});
