// Records as an agent gets them: without what every one of a list repeats, and with long texts cut.

import type { JsonObject, JsonReader } from '@tabrelay/plugin-sdk/json';
import { pagingInput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';

/** JSON Schema of the name of a collection. */
export const collectionInput = s.string('Name or id of the collection, from list_collections.', {
  minLength: 1,
});

/** JSON Schema of the id of a record. */
export const idInput = s.string('The id of the record.', { minLength: 1 });

/** JSON Schema of which part of a list to answer. */
export const pageInput = {
  limit: { ...pagingInput.limit, maximum: 200, default: 20 },
  offset: pagingInput.offset,
};

/** JSON Schema of how long a text may be. */
export const maxCharsInput = s.integer('Longer texts are cut, and end with "…".', {
  minimum: 20,
  maximum: 100000,
  default: 300,
});

/** JSON Schema of which fields a record has. */
export const fieldsInput = s.string(
  'Only these fields, comma-separated, such as id,title,expand.author.name. Default: all.',
  { default: '' },
);

/** JSON Schema of which relations to follow. */
export const expandInput = s.string(
  'Relations to follow, comma-separated, such as author,comments_via_post.',
  { default: '' },
);

/** JSON Schema of a record. */
export const recordOutput = { type: 'object', description: 'The fields by name.' } as const;

/** What to ask for when an agent asks for some fields: by its collection a record is known to be one. */
export const withCollection = (fields: string): string | undefined =>
  fields === '' ? undefined : `${fields},collectionId`;

/** A record without the collection it is of, its texts cut. */
export function record(from: JsonReader, maxChars: number): JsonObject {
  from.string('collectionId');
  const { collectionId: _id, collectionName: _name, ...fields } = from.object();
  return shortened(fields, maxChars);
}

/** Values by name, their texts cut. */
export const shortened = (fields: JsonObject, maxChars: number): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, cut(value, maxChars)]));

function cut(value: unknown, maxChars: number): unknown {
  if (typeof value === 'string')
    return value.length > maxChars ? `${value.slice(0, maxChars)}…` : value;
  if (Array.isArray(value)) return value.map((item) => cut(item, maxChars));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, cut(inner, maxChars)]),
  );
}
