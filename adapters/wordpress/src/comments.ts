// Comments as the API answers them.

import { at, type Json, number, text } from './json.ts';
import { plain } from './markup.ts';
import { utc } from './posts.ts';
import { record, time } from './shape.ts';

export const comment = (from: Json) => ({
  id: number(from.id),
  postId: number(from.post),
  replyTo: number(from.parent),
  author: text(from.author_name),
  status: text(from.status),
  date: utc(from.date_gmt),
  text: plain(text(at(from.content).rendered)),
  link: text(from.link),
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
