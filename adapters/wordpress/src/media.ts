// Files of the media library as the API answers them.

import { type Json, number, text } from './json.ts';
import { utc, written } from './posts.ts';
import { record, time } from './shape.ts';

export const file = (from: Json) => ({
  id: number(from.id),
  title: written(from.title),
  altText: text(from.alt_text),
  mimeType: text(from.mime_type),
  date: utc(from.date_gmt),
  url: text(from.source_url),
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
