// Files of the media library as the API answers them.

import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { utc, written } from './posts.ts';
import { record, time } from './shape.ts';

export const file = (from: JsonReader) => ({
  id: from.number('id'),
  title: written(from, 'title'),
  altText: from.string('alt_text'),
  mimeType: from.string('mime_type'),
  date: utc(from, 'date_gmt'),
  url: from.string('source_url'),
});

/** JSON Schema of [file]. */
export const fileOutput = record({
  id: { type: 'integer' },
  title: { type: 'string' },
  altText: { type: 'string' },
  mimeType: { type: 'string' },
  date: time,
  url: { type: 'string', description: 'Address of the file itself.' },
});
