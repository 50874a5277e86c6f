// Posts and pages as the API answers them.

import { htmlToText } from '@tabrelay/plugin-sdk/html';
import type { JsonObject, JsonReader } from '@tabrelay/plugin-sdk/json';
import { id, record, time } from './shape.ts';

/** Where the API keeps them. */
export const collection = (type: 'post' | 'page'): string => `/wp/v2/${type}s`;

/** The text a person typed where the account may edit it; else the text a visitor sees. */
export const written = (from: JsonReader, field: string): string =>
  from.at(field).maybe('raw')?.string() ?? htmlToText(from.string(field, 'rendered'));

/** A time, which the API gives without a zone; empty where it is null, as that of a draft may be. */
export const utc = (from: JsonReader, field: string): string =>
  from.at(field).value === null ? '' : `${from.string(field)}Z`;

/** What lists and saved posts show. */
export const summary = (from: JsonReader) => ({
  id: from.number('id'),
  title: written(from, 'title'),
  status: from.string('status'),
  date: utc(from, 'date_gmt'),
  modified: utc(from, 'modified_gmt'),
  authorId: from.number('author'),
  link: from.string('link'),
});

const properties = {
  id: { type: 'integer' },
  title: { type: 'string' },
  status: { type: 'string', description: 'publish, future, draft, pending, private or trash.' },
  date: { type: 'string', description: 'Of publication, UTC; empty for a draft without one.' },
  modified: { type: 'string', description: 'UTC. The base for the next update_post.' },
  authorId: { type: 'integer' },
  link: { type: 'string' },
} as const;

/** JSON Schema of [summary]. */
export const summaryOutput = record(properties);

/** Ids of categories or tags; pages have none. */
const ids = (from: JsonReader, field: string): number[] =>
  from.string('type') === 'page' ? [] : from.list(field).map((one) => one.number());

/** What a whole post has besides its text. */
export const details = (from: JsonReader) => ({
  ...summary(from),
  excerpt: written(from, 'excerpt'),
  categories: ids(from, 'categories'),
  tags: ids(from, 'tags'),
  commentsOpen: from.string('comment_status') === 'open',
});

/** JSON Schema of [details], in parts. */
export const detailProperties = {
  ...properties,
  excerpt: { type: 'string' },
  categories: {
    type: 'array',
    items: { type: 'integer' },
    maxItems: 500,
    description: 'Ids; list_terms names them.',
  },
  tags: { type: 'array', items: { type: 'integer' }, maxItems: 500 },
  commentsOpen: { type: 'boolean' },
} as const;

const idsInput = { type: 'array', items: id, maxItems: 50 } as const;

/** What can be written, by the names of the tools. */
export const writable = {
  title: { type: 'string', minLength: 1, description: 'The headline.' },
  content: { type: 'string', description: 'HTML or block markup; plain paragraphs work too.' },
  excerpt: { type: 'string', description: 'A summary for lists.' },
  date: {
    ...time,
    description: 'When it is or was published, UTC, ISO 8601; in the future with status future.',
  },
  categories: { ...idsInput, description: 'Ids from list_terms. Posts only.' },
  tags: { ...idsInput, description: 'Ids from list_terms. Posts only.' },
  parent: { type: 'integer', minimum: 0, description: 'Id of the page above this one. Pages only.' },
} as const;

interface Written {
  title?: string | undefined;
  content?: string | undefined;
  excerpt?: string | undefined;
  date?: string | undefined;
  status?: string | undefined;
  categories?: readonly number[] | undefined;
  tags?: readonly number[] | undefined;
  parent?: number | undefined;
}

/** The same by the names of the API; what is undefined is left out of its JSON. */
export const fields = ({ date, ...rest }: Written): JsonObject => ({ ...rest, date_gmt: date });
