// Pieces of JSON Schema that several tools share.

/** An object of an answer: all its fields are present, but those named. */
export function record<const P extends object, const Missing extends string = never>(
  properties: P,
  ...mayMiss: Missing[]
) {
  const required = Object.keys(properties).filter(
    (name): name is Exclude<keyof P & string, Missing> => !mayMiss.some((one) => one === name),
  );
  return { type: 'object', properties, required } as const;
}

/** The arguments that page through a list. */
export const paging = {
  limit: { type: 'integer', minimum: 1, maximum: 50, default: 10, description: 'How many to list.' },
  offset: { type: 'integer', minimum: 0, default: 0, description: 'From nextOffset of the answer before.' },
} as const;

/** A list of an answer, with what tells how to go on. */
export const listOf = <const Item extends object>(items: Item) =>
  record(
    {
      total: { type: 'integer' },
      items: { type: 'array', items },
      nextOffset: { type: 'integer', description: 'Present when there are more.' },
    },
    'nextOffset',
  );

export const id = { type: 'integer', minimum: 1, description: 'Its id, from a list.' } as const;

export const postType = {
  enum: ['post', 'page'],
  default: 'post',
  description: 'A post of the blog, or a page that stands by itself.',
} as const;

export const time = { type: 'string', description: 'UTC, ISO 8601.' } as const;
