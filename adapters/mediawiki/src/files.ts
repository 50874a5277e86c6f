// Files of a wiki as the API answers them.

import { ToolError } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { shownTo } from './pages.ts';

export const fileOf = (from: JsonReader, title: string) => ({
  title,
  url: from.string('url'),
  mime: from.string('mime'),
  bytes: from.number('size'),
  width: from.number('width'),
  height: from.number('height'),
  user: shownTo(from, 'user'),
  timestamp: from.string('timestamp'),
});

/** JSON Schema of [fileOf]'s answer. */
export const fileProperties = {
  title: s.string(),
  url: s.string(),
  mime: s.string(),
  bytes: s.integer(),
  width: s.integer('0 for what is no picture.'),
  height: s.integer(),
  user: s.string(),
  timestamp: s.string(),
};

/** Decodes base64 (RFC 4648 section 4). */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
  } catch {
    throw ToolError.validation(
      'contentBase64 is not base64 (RFC 4648), or has a prefix such as "data:".',
    );
  }
}
