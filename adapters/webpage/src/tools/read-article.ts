import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import Readability from '../../readability/Readability.cjs';
import { copyShown } from '../copy.ts';
import { markdown } from '../markdown.ts';
import { attribute } from '../members.ts';
import { address, cut, here, hereOutput, line, root } from '../page.ts';
import { textInput, textOutput, textSlice } from '../slices.ts';

export const readArticle = defineTool({
  name: 'read_article',
  displayName: 'Read article',
  description:
    'The main content of an open page as Markdown, without menus, advertisements and footers. For a page that is no article (a list, an application), use read_text.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      links: { type: 'boolean', default: false, description: 'Write where links lead.' },
      ...textInput,
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      ...hereOutput,
      headline: { type: 'string' },
      byline: { type: 'string' },
      site: { type: 'string' },
      published: { type: 'string', description: 'As the page says it.' },
      language: { type: 'string' },
      excerpt: { type: 'string' },
      ...textOutput,
    },
    required: ['url', 'title', 'headline', 'text', 'totalChars'],
  },
  handle({ links, offset, maxChars }) {
    const reader = new Readability<Element>(copyShown(), { serializer: (node) => node });
    const article = reader.parse();
    const text = article?.content ? markdown(article.content, { links }, address) : '';
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
    return {
      ...here(),
      headline: cut(line(article.title ?? ''), 300),
      ...Object.fromEntries(given),
      ...textSlice(text, offset, maxChars),
    };
  },
});
