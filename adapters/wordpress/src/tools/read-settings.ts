import { defineTool, stripUndefined } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';

export const readSettings = defineTool({
  name: 'read_settings',
  displayName: 'Read settings',
  description:
    'The settings of the site: title, tagline, language, time zone, front page. Needs an ' +
    'administrator.',
  annotations: { readOnlyHint: true },
  input: s.parameters({}),
  output: s.object({
    title: s.string(),
    tagline: s.string(),
    url: s.optional(s.string('Not given for a site of a network.')),
    email: s.optional(s.string('Of the administration.')),
    language: s.string('Empty for English.'),
    timezone: s.string(),
    postsPerPage: s.integer(),
    frontPage: s.string('posts, or page with frontPageId.'),
    frontPageId: s.integer('0 without one.'),
    commentsByDefault: s.string('open or closed for new posts.'),
  }),
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
