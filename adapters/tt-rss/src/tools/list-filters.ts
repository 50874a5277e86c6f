import { defineTool } from '@tabrelay/plugin-sdk';
import { parseHTML } from '@tabrelay/plugin-sdk/html';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { ask, numberIn } from '../api.ts';
import { nextOffset, paging } from '../shape.ts';
import { rootItems } from '../tree.ts';

export const listFilters = defineTool({
  name: 'list_filters',
  displayName: 'List filters',
  description:
    'Lists the filters that sort, star or delete new articles: their rules and what they do.',
  annotations: { readOnlyHint: true },
  input: s.parameters(paging),
  output: s.object({
    total: s.integer(),
    filters: s.array(
      s.object({
        id: s.integer(),
        name: s.string(),
        rules: s.array(s.string()),
        does: s.string(),
        enabled: s.boolean(),
        lastTriggered: s.optional(s.string()),
      }),
    ),
    nextOffset,
  }),
  async handle(part, { signal, maxBytes }) {
    const all = rootItems(await ask('Pref_Filters.getfiltertree', {}, signal)).map(filter);
    return listPage(all, { ...part, maxBytes }, (filters, more) => ({ filters, ...more }));
  },
});

/** The reader describes rules and actions in the person's language. */
const filter = (from: JsonReader) => ({
  id: numberIn(from.at('bare_id')),
  name: textOf(from.string('name')),
  rules: [...parseHTML(from.string('rules')).querySelectorAll('li')].map((rule) =>
    (rule.textContent ?? '').trim(),
  ),
  does: textOf(from.string('param')),
  enabled: from.boolean('enabled'),
  lastTriggered: from.maybe('last_triggered')?.string(),
});

function textOf(html: string): string {
  const { body } = parseHTML(html);
  // The names of the icon font's pictures are no words.
  for (const icon of body.querySelectorAll('.material-icons')) icon.remove();
  return (body.textContent ?? '').trim();
}
