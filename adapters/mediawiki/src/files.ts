// Files of a wiki as the API answers them.

import { ToolError } from '@tabrelay/plugin-sdk';
import { type Json, number, text } from './json.ts';

export const fileOf = (from: Json) => ({
  title: text(from.title),
  url: text(from.url),
  mime: text(from.mime),
  bytes: number(from.size),
  width: number(from.width),
  height: number(from.height),
  user: text(from.user),
  timestamp: text(from.timestamp),
});

/** JSON Schema of [fileOf]'s answer. */
export const fileProperties = {
  title: { type: 'string' },
  url: { type: 'string' },
  mime: { type: 'string' },
  bytes: { type: 'integer' },
  width: { type: 'integer', description: '0 for what is no picture.' },
  height: { type: 'integer' },
  user: { type: 'string' },
  timestamp: { type: 'string' },
} as const;

/** Decodes base64 (RFC 4648 section 4). */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
  } catch {
    throw ToolError.validation('contentBase64 is not base64 (RFC 4648), or has a prefix such as "data:".');
  }
}
