// Files of the media library as the API answers them.

import { asNumber, asText, type JsonObject } from '@tabrelay/plugin-sdk/json';
import { utc, written } from './posts.ts';
import { record, time } from './shape.ts';

export const file = (from: JsonObject) => ({
  id: asNumber(from.id),
  title: written(from.title),
  altText: asText(from.alt_text),
  mimeType: asText(from.mime_type),
  date: utc(from.date_gmt),
  url: asText(from.source_url),
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
