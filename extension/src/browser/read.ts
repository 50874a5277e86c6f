// Reads a page whole: its article, its words, and what there is of one kind.
import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { attribute, matches, within } from './dom.ts';
import { isShown } from './drawn.ts';
import { frameIndex } from './looking.ts';
import { listForms } from './reading/list-forms.ts';
import { listImages } from './reading/list-images.ts';
import { listLinks } from './reading/list-links.ts';
import { listTables } from './reading/list-tables.ts';
import { outline } from './reading/outline.ts';
import { pageInfo } from './reading/page-info.ts';
import { readArticle } from './reading/read-article.ts';
import { readSelection } from './reading/read-selection.ts';
import { readTable } from './reading/read-table.ts';
import { readText } from './reading/read-text.ts';
import type { Reading, Room } from './reading/request.ts';
import { reference } from './references.ts';
import { element } from './resolved.ts';
import { sensitivity } from './secrets.ts';
import { told } from './told.ts';
import { whenParsed } from './waiting.ts';
import { cut } from './words.ts';

const readers = {
  article: { read: readArticle, limit: 0 },
  text: { read: readText, limit: 0 },
  outline: { read: outline, limit: 50 },
  links: { read: listLinks, limit: 30 },
  tables: {
    read: (reading: Reading, room: Room) =>
      reading.index === undefined && reading.caption === undefined
        ? listTables(reading, room)
        : readTable(reading, room),
    limit: 25,
  },
  forms: { read: listForms, limit: 10 },
  images: { read: listImages, limit: 30 },
  selection: { read: readSelection, limit: 0 },
  about: { read: pageInfo, limit: 0 },
};

const isSecret = (element: Element): boolean => sensitivity(element) !== undefined;

const mostFrames = 10;

// What stands in frames is read with their references.
const framesShown = (): { ref: string; url: string; index: number }[] =>
  within(document.documentElement, 'iframe, frame')
    .filter(isShown)
    .slice(0, mostFrames)
    .map((frame) => ({
      ref: reference(frame),
      url: cut(attribute(frame, 'src') ?? '', 200),
      index: frameIndex(frame), // for the worker, which leaves it out
    }));

export const read = defineTool({
  name: 'read',
  displayName: 'Read the page',
  description:
    'Reads one kind of thing of a page whole: its article or text, headings, links, tables, forms with their ' +
    'fields, images, what the person marked (selection), its metadata and structured data (about).',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    what: s.choice([
      'article',
      'text',
      'outline',
      'links',
      'tables',
      'forms',
      'images',
      'selection',
      'about',
    ]),
    ref: s.optional(s.string('Of a frame, or in one: reads that.')),
    table: s.optional(s.string('Rows of the table with this caption or number, from 0.', { maxLength: 200 })),
    contains: s.optional(s.string('Only links with these words.', { maxLength: 200 })),
    links: s.optional(s.boolean('With addresses in the article.')),
    offset: s.optional(s.integer('From nextOffset of the previous answer.', { minimum: 0 })),
    limit: s.optional(s.integer({ minimum: 1, maximum: 500 })),
    maxChars: s.optional(s.integer('How much text: 8000 by default.', { minimum: 100, maximum: 100_000 })),
  }),
  handle: (args, { maxBytes }) =>
    whenParsed(() => {
      told(args);
      const { what, ref, table, contains = '', links = false, offset = 0, limit, maxChars = 8000 } = args;
      const { maxChars: valueChars = 500 } = args;
      if (table !== undefined && what !== 'tables')
        throw ToolError.validation('table goes with what: tables');
      const frame = ref === undefined ? undefined : element(ref);
      if (frame !== undefined && matches(frame, 'iframe, frame'))
        return { frame: { index: frameIndex(frame), ref: reference(frame) } };
      const reader = readers[what];
      const number = table !== undefined && /^\d{1,6}$/.test(table) ? Number(table) : undefined;
      const reading: Reading = {
        offset,
        limit: limit ?? reader.limit,
        maxChars,
        valueChars,
        links,
        contains,
        index: number,
        caption: number === undefined ? table : undefined,
        depth: 4,
        minSize: 48,
      };
      const frames = offset === 0 ? framesShown() : [];
      if (frames.length === 0) return reader.read(reading, { maxBytes, isSecret });
      const room = maxBytes === undefined ? undefined : maxBytes - 4 * JSON.stringify(frames).length;
      return { ...reader.read(reading, { maxBytes: room, isSecret }), frames };
    }),
});
