import { defineTool } from '@tabrelay/plugin-sdk';
import { parseHTML } from '@tabrelay/plugin-sdk/html';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { ajax, open, textOf } from '../api.ts';

export const listPages = defineTool({
  name: 'list_pages',
  displayName: 'List pages',
  description:
    'What is in a namespace: its pages with their titles, and the namespaces below it. One that does not ' +
    'exist has none.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    namespace: s.string('Such as "animals:wild"; empty for the top.', { default: '' }),
    ...pagingInput,
  }),
  output: s.object({
    entries: s.array(
      s.object({
        id: s.string(),
        kind: s.choice(['page', 'namespace']),
        title: s.optional(s.string('The first heading.')),
      }),
    ),
    ...pagingOutput,
  }),
  async handle({ namespace, limit, offset }, { signal, maxBytes }) {
    const inside = namespace.replaceAll(/^[\s:]+|[\s:]+$/g, '');
    const html = await ajax('linkwiz', { q: inside === '' ? '' : `${inside}:` }, signal);
    const page = parseHTML(html);
    // Where there is nothing at all it says so in a sentence; a person who may read nothing is told why.
    if (page.querySelector('.type_u, .type_d, .type_f') === null)
      await open({ do: 'index' }, signal);
    const entries = [...page.querySelectorAll('.type_d, .type_f')].map(entryOf);
    return listPage(entries, { limit, offset, maxBytes }, (part, paging) => ({
      entries: part,
      ...paging,
    }));
  },
});

function entryOf(line: Element) {
  const id = line.querySelector('a')?.getAttribute('title') ?? '';
  if (line.classList.contains('type_d'))
    return { id: id.replace(/:$/, ''), kind: 'namespace' as const };
  const title = textOf(line.querySelector('span'));
  return { id, kind: 'page' as const, ...(title === '' ? {} : { title }) };
}
