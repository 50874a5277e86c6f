// Files of the media library as the API answers them.

import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { utc, written } from './posts.ts';
import { time } from './shape.ts';

export const file = (from: JsonReader) => ({
  id: from.number('id'),
  title: written(from, 'title'),
  altText: from.string('alt_text'),
  mimeType: from.string('mime_type'),
  date: utc(from, 'date_gmt'),
  url: from.string('source_url'),
});

/** JSON Schema of [file]. */
export const fileOutput = s.object({
  id: s.integer(),
  title: s.string(),
  altText: s.string(),
  mimeType: s.string(),
  date: time,
  url: s.string('Address of the file itself.'),
});
