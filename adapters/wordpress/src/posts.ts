// Posts and pages as the API answers them.

import { htmlToText } from '@tabrelay/plugin-sdk/html';
import type { JsonObject, JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { id } from './shape.ts';

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
  id: s.integer(),
  title: s.string(),
  status: s.string('publish, future, draft, pending, private or trash.'),
  date: s.string('Of publication, UTC; empty for a draft without one.'),
  modified: s.string('UTC. The base for the next update_post.'),
  authorId: s.integer(),
  link: s.string(),
};

/** JSON Schema of [summary]. */
export const summaryOutput = s.object(properties);

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
  excerpt: s.string(),
  categories: s.array(s.integer(), 'Ids; list_terms names them.', { maxItems: 500 }),
  tags: s.array(s.integer(), { maxItems: 500 }),
  commentsOpen: s.boolean(),
};

export const titleInput = s.string('The headline.', { minLength: 1 });

const idsInput = s.optional(s.array(id, 'Ids from list_terms. Posts only.', { maxItems: 50 }));

/** What else can be written, by the names of the tools. */
export const writable = {
  content: s.optional(s.string('HTML or block markup; plain paragraphs work too.')),
  excerpt: s.optional(s.string('A summary for lists.')),
  date: s.optional(
    s.string('When it is or was published, UTC, ISO 8601; in the future with status future.'),
  ),
  categories: idsInput,
  tags: idsInput,
  parent: s.optional(s.integer('Id of the page above this one. Pages only.', { minimum: 0 })),
};

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
