// A list is narrowed to the names that contain a text.

/** JSON Schema of an argument that narrows a list by name. */
export const searchInput = {
  type: 'string',
  default: '',
  description: 'Only those whose name contains this, in any case.',
} as const;

export const contains = (name: string, search: string): boolean =>
  name.toLowerCase().includes(search.toLowerCase());
