import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { htmlToText } from '@tabrelay/plugin-sdk/html';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import Readability from '../../readability/Readability.cjs';
import { copyShown } from '../copy.ts';
import { attribute } from '../members.ts';
import { address, cut, here, hereOutput, line, root } from '../page.ts';

export const readArticle = defineTool({
  name: 'read_article',
  displayName: 'Read article',
  description:
    'The main content of an open page as Markdown, without menus, advertisements and ' +
    'footers. For a page that is no article (a list, an application), use read_text.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    links: s.boolean('Write where links lead.', { default: false }),
    ...textInput,
  }),
  output: s.object({
    ...hereOutput,
    headline: s.string(),
    byline: s.optional(s.string()),
    site: s.optional(s.string()),
    published: s.optional(s.string('As the page says it.')),
    language: s.optional(s.string()),
    excerpt: s.optional(s.string()),
    ...textOutput,
  }),
  handle({ links, offset, maxChars }, { maxBytes }) {
    const reader = new Readability<Element>(copyShown(), { serializer: (node) => node });
    const article = reader.parse();
    const style = links ? { address } : {};
    const text = article?.content ? htmlToText(article.content, style) : '';
    if (!article || text === '') {
      throw ToolError.notFound('The page has no article. Use read_text for all that it shows.');
    }
    const facts = {
      byline: article.byline,
      site: article.siteName,
      published: article.publishedTime,
      language: attribute(root(), 'lang'),
      excerpt: article.excerpt,
    };
    const given = Object.entries(facts).flatMap(([name, value]) =>
      value ? [[name, cut(line(value), 500)] as const] : [],
    );
    const about = {
      ...here(),
      headline: cut(line(article.title ?? ''), 300),
      ...Object.fromEntries(given),
    };
    return textPage(text, { offset, maxChars, maxBytes }, (part) => ({ ...about, ...part }));
  },
});
