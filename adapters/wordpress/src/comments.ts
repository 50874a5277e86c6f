// Comments as the API answers them.

import { htmlToText } from '@tabrelay/plugin-sdk/html';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { utc } from './posts.ts';
import { time } from './shape.ts';

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
export const commentOutput = s.object({
  id: s.integer(),
  postId: s.integer(),
  replyTo: s.integer('0 when it answers the post itself.'),
  author: s.string(),
  status: s.string('approved, hold, spam or trash.'),
  date: time,
  text: s.string(),
  link: s.string(),
});
