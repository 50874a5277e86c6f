// Posts and pages as the API answers them.

import { asNumber, asText, itemsIn, type JsonObject, objectAt } from '@tabrelay/plugin-sdk/json';
import { plain } from './markup.ts';
import { id, record, time } from './shape.ts';

/** Where the API keeps them. */
export const collection = (type: 'post' | 'page'): string => `/wp/v2/${type}s`;

/** The text a person typed where the account may edit it; else the text a visitor sees. */
export const written = (field: unknown): string => {
  const { raw, rendered } = objectAt(field);
  return typeof raw === 'string' ? raw : plain(asText(rendered));
};

export const utc = (value: unknown): string => (asText(value) === '' ? '' : `${asText(value)}Z`);

/** What lists and saved posts show. */
export const summary = (from: JsonObject) => ({
  id: asNumber(from.id),
  title: written(from.title),
  status: asText(from.status),
  date: utc(from.date_gmt),
  modified: utc(from.modified_gmt),
  authorId: asNumber(from.author),
  link: asText(from.link),
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

const numbersIn = (value: unknown): number[] => itemsIn(value).filter((item) => typeof item === 'number');

/** What a whole post has besides its text. */
export const details = (from: JsonObject) => ({
  ...summary(from),
  excerpt: written(from.excerpt),
  categories: numbersIn(from.categories),
  tags: numbersIn(from.tags),
  commentsOpen: from.comment_status === 'open',
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

const ids = { type: 'array', items: id, maxItems: 50 } as const;

/** What can be written, by the names of the tools. */
export const writable = {
  title: { type: 'string', minLength: 1, description: 'The headline.' },
  content: { type: 'string', description: 'HTML or block markup; plain paragraphs work too.' },
  excerpt: { type: 'string', description: 'A summary for lists.' },
  date: {
    ...time,
    description: 'When it is or was published, UTC, ISO 8601; in the future with status future.',
  },
  categories: { ...ids, description: 'Ids from list_terms. Posts only.' },
  tags: { ...ids, description: 'Ids from list_terms. Posts only.' },
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
