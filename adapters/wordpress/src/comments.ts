// Comments as the API answers them.

import { asNumber, asText, type JsonObject, objectAt } from '@tabrelay/plugin-sdk/json';
import { plain } from './markup.ts';
import { utc } from './posts.ts';
import { record, time } from './shape.ts';

export const comment = (from: JsonObject) => ({
  id: asNumber(from.id),
  postId: asNumber(from.post),
  replyTo: asNumber(from.parent),
  author: asText(from.author_name),
  status: asText(from.status),
  date: utc(from.date_gmt),
  text: plain(asText(objectAt(from.content).rendered)),
  link: asText(from.link),
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
