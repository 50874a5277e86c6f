import { defineTool, fetchText, ToolError } from '@tabrelay/plugin-sdk';
import { parseHTML } from '@tabrelay/plugin-sdk/html';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from './site.ts';

export const hello = defineTool({
  name: 'hello',
  displayName: 'Say hello',
  description:
    'Greets from inside the demo site: proof that a tool call reaches a page in the ' +
    'browser of this person.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    name: s.optional(s.string('Who to greet.', { maxLength: 100 })),
  }),
  output: s.object({
    greeting: s.string(),
    page: s.string(),
    url: s.string(),
  }),
  handle: ({ name = 'there' }) =>
    Promise.resolve({
      greeting: `Hello, ${name}! This answer comes from a page in your own browser.`,
      page: document.title,
      url: location.href,
    }),
});

export const listPages = defineTool({
  name: 'list_pages',
  displayName: 'List pages',
  description: 'The pages of the demo site. Read one with get_page.',
  annotations: { readOnlyHint: true },
  input: s.parameters({}),
  async handle(_, { signal }) {
    const pages = (await get('/api/pages', signal)).list('pages');
    return {
      pages: pages.map((one) => ({ slug: one.string('slug'), title: one.string('title') })),
    };
  },
});

export const getPage = defineTool({
  name: 'get_page',
  displayName: 'Read page',
  description: 'The title and text of a page of the demo site.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    slug: s.string('From list_pages, for example "tea".', { pattern: '^[a-z-]+$' }),
  }),
  output: s.object({
    title: s.string(),
    text: s.string(),
  }),
  async handle({ slug }, { signal }) {
    const missing = () =>
      ToolError.notFound(`There is no page "${slug}". list_pages returns the existing ones.`);
    const explain = ({ status }: Response) => (status === 404 ? missing() : undefined);
    const page = parseHTML(await fetchText(`/pages/${slug}`, { signal, explain }));
    const [title, article] = [page.querySelector('h1'), page.querySelector('article')];
    if (title === null || article === null) throw invalidResponse('the page has no article');
    const paragraphs = [...article.querySelectorAll('p')].map((p) => p.textContent ?? '');
    return { title: title.textContent ?? '', text: paragraphs.join('\n\n') };
  },
});
