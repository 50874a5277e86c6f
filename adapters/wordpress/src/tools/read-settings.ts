import { defineTool, stripUndefined } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';
import { record } from '../shape.ts';

export const readSettings = defineTool({
  name: 'read_settings',
  displayName: 'Read settings',
  description:
    'The settings of the site: title, tagline, language, time zone, front page. Needs an administrator.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: record(
    {
      title: { type: 'string' },
      tagline: { type: 'string' },
      url: { type: 'string', description: 'Not given for a site of a network.' },
      email: { type: 'string', description: 'Of the administration.' },
      language: { type: 'string', description: 'Empty for English.' },
      timezone: { type: 'string' },
      postsPerPage: { type: 'integer' },
      frontPage: { type: 'string', description: 'posts, or page with frontPageId.' },
      frontPageId: { type: 'integer', description: '0 without one.' },
      commentsByDefault: { type: 'string', description: 'open or closed for new posts.' },
    },
    'url',
    'email',
  ),
  async handle(_, { signal }) {
    const set = await get('/wp/v2/settings', {}, signal);
    const ofNetwork = { url: set.maybe('url')?.string(), email: set.maybe('email')?.string() };
    return {
      title: set.string('title'),
      tagline: set.string('description'),
      ...stripUndefined(ofNetwork),
      language: set.string('language'),
      timezone: set.string('timezone'),
      postsPerPage: set.number('posts_per_page'),
      frontPage: set.string('show_on_front'),
      frontPageId: set.number('page_on_front'),
      commentsByDefault: set.string('default_comment_status'),
    };
  },
});
