import { ToolError } from '@tabrelay/plugin-sdk';
import { htmlToText } from '@tabrelay/plugin-sdk/html';
import { textPage } from '@tabrelay/plugin-sdk/paging';
import Readability from '../readability/Readability.cjs';
import { copyShown } from './copy.ts';
import { attribute } from './members.ts';
import { address, cut, here, line, root } from './page.ts';

import type { Reading, Room } from './request.ts';

export function readArticle({ links, offset, maxChars }: Reading, { maxBytes }: Room) {
  const reader = new Readability<Element>(copyShown(), { serializer: (node) => node });
  const article = reader.parse();
  const style = links ? { address } : {};
  const text = article?.content ? htmlToText(article.content, style) : '';
  if (!article || text === '') {
    throw ToolError.notFound('The page has no article. Read text for all that it shows.');
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
}
