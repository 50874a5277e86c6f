import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { open } from '../api.ts';
import { idInput, idOf, nameOf } from '../pages.ts';

export const backlinks = defineTool({
  name: 'backlinks',
  displayName: 'Pages that link here',
  description:
    'Which other pages link to a page, whether it exists or not: what to mend after a deletion.',
  annotations: { readOnlyHint: true },
  input: s.parameters({ id: idInput, ...pagingInput }),
  output: s.object({ id: s.string(), pages: s.array(s.string()), ...pagingOutput }),
  async handle({ id: name, limit, offset }, { signal, maxBytes }) {
    const { id, page } = await open({ do: 'backlink', id: nameOf(name) }, signal);
    const all = [...page.querySelectorAll('ul.idx a.wikilink1')].map(idOf);
    return listPage(all, { limit, offset, maxBytes }, (pages, paging) => ({
      id,
      pages,
      ...paging,
    }));
  },
});
