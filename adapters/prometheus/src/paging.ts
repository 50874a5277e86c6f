// Lists are long, and answers are short: the caller asks for the next part by its offset.

/** JSON Schema of the arguments. */
export const pageInput = {
  limit: { type: 'integer', minimum: 1, maximum: 500, default: 50, description: 'How many entries.' },
  offset: { type: 'integer', minimum: 0, default: 0, description: 'From nextOffset of the answer before.' },
} as const;

/** JSON Schema of what [page] says about the whole. */
export const pageOutput = {
  total: { type: 'integer', description: 'How many there are, all parts together.' },
  nextOffset: { type: 'integer', description: 'Present when there are more.' },
} as const;

/** One part of a list. */
export function page<T>(all: readonly T[], { limit, offset }: { limit: number; offset: number }) {
  const items = all.slice(offset, offset + limit);
  const next = offset + items.length;
  return { items, of: { total: all.length, ...(next < all.length ? { nextOffset: next } : {}) } };
}

/** JSON Schema of an argument that narrows a list by name. */
export const searchInput = {
  type: 'string',
  default: '',
  description: 'Only those whose name contains this, in any case.',
} as const;

export const contains = (name: string, search: string): boolean =>
  name.toLowerCase().includes(search.toLowerCase());
