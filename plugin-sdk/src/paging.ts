// Answers a list in parts: an application gave all of it, and an agent asks for the next part by its offset.

/** JSON Schema of the arguments that say which part: properties of a tool's input. */
export const pagingInput = {
  limit: { type: 'integer', minimum: 1, maximum: 500, default: 50, description: 'How many entries.' },
  offset: { type: 'integer', minimum: 0, default: 0, description: 'From nextOffset of the answer before.' },
} as const;

/** JSON Schema of what [pageOf] says about the whole: properties of a tool's output; `total` is required. */
export const pagingOutput = {
  total: { type: 'integer', description: 'How many there are, all parts together.' },
  nextOffset: { type: 'integer', description: 'Present when there are more.' },
} as const;

/**
 * One part of a list, and where it stands in the whole.
 *
 * @example const { items, paging } = pageOf(orders, { limit, offset }); return { orders: items, ...paging };
 */
export function pageOf<T>(all: readonly T[], { limit, offset }: { limit: number; offset: number }) {
  const items = all.slice(offset, offset + limit);
  const next = offset + items.length;
  return { items, paging: { total: all.length, ...(next < all.length ? { nextOffset: next } : {}) } };
}
