// A list is narrowed to the names that contain a text.

/** JSON Schema of an argument that narrows a list by name. */
import * as s from '@tabrelay/plugin-sdk/schema';

export const searchInput = s.string('Only those whose name contains this, in any case.', {
  default: '',
});

export const contains = (name: string, search: string): boolean =>
  name.toLowerCase().includes(search.toLowerCase());
