// Comments as the API answers them.

import { htmlToText } from '@tabrelay/plugin-sdk/html';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { utc } from './posts.ts';
import { record, time } from './shape.ts';

export const comment = (from: JsonReader) => ({
  id: from.number('id'),
  postId: from.number('post'),
  replyTo: from.number('parent'),
  author: from.string('author_name'),
  status: from.string('status'),
  date: utc(from, 'date_gmt'),
  text: htmlToText(from.string('content', 'rendered')),
  link: from.string('link'),
});

/** JSON Schema of [comment]. */
export const commentOutput = record({
  id: { type: 'integer' },
  postId: { type: 'integer' },
  replyTo: { type: 'integer', description: '0 when it answers the post itself.' },
  author: { type: 'string' },
  status: { type: 'string', description: 'approved, hold, spam or trash.' },
  date: time,
  text: { type: 'string' },
  link: { type: 'string' },
});
