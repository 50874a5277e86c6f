import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { listPart, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { limitInput } from '../limits.ts';
import { here, hereOutput, line, wholeTo } from '../page.ts';
import { pageText } from '../shown.ts';

export const searchText = defineTool({
  name: 'search_text',
  displayName: 'Search in page',
  description:
    'Finds words in what an open page displays, and answers each place with the text ' +
    'around it. Its position can be passed to read_text as offset.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    query: s.string('Words as they stand there, no pattern.', { minLength: 1, maxLength: 200 }),
    matchCase: s.boolean('Tell capitals from small letters.', { default: false }),
    context: s.integer('How many characters to show on each side.', {
      minimum: 0,
      maximum: 1000,
      default: 80,
    }),
    offset: pagingInput.offset,
    limit: limitInput(10),
  }),
  output: s.object({
    ...hereOutput,
    matches: s.array(
      s.object({
        position: s.integer('In the text of read_text.'),
        text: s.string('What was found, with what is around it.'),
      }),
    ),
    ...pagingOutput,
  }),
  handle({ query, matchCase, context, offset, limit }, { maxBytes }) {
    const words = line(query).split(' ').map(literally).filter(Boolean);
    if (words.length === 0) throw ToolError.validation('The query has no words in it.');
    const text = pageText();
    const places = Array.from(
      text.matchAll(new RegExp(words.join('\\s+'), matchCase ? 'gu' : 'giu')),
    );
    const some = places.slice(offset, offset + limit).map((place) => {
      const from = wholeTo(text, Math.max(0, place.index - context));
      const to = wholeTo(text, Math.min(text.length, place.index + place[0].length + context));
      return {
        position: place.index,
        text: `${from > 0 ? '…' : ''}${line(text.slice(from, to))}${to < text.length ? '…' : ''}`,
      };
    });
    const known = { offset, total: places.length, maxBytes };
    return listPart(some, known, (matches, paging) => ({ ...here(), matches, ...paging }));
  },
});

const literally = (word: string): string =>
  word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, (found) => `\\u{${found.charCodeAt(0).toString(16)}}`);
