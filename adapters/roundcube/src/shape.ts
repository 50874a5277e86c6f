// Pieces of JSON Schema that several tools share.

import * as s from '@tabrelay/plugin-sdk/schema';

export const nextOffset = s.integer('Present when there are more.');

/** The arguments that page through a list. */
export const paging = {
  limit: s.integer('How many to list.', { minimum: 1, maximum: 50, default: 10 }),
  offset: s.integer('From nextOffset of the previous answer.', { minimum: 0, default: 0 }),
};

export const folder = s.string('Path, from list_folders.', {
  minLength: 1,
  default: 'INBOX',
});

export const uid = s.integer('From list_messages.', {
  minimum: 1,
});

export const uids = s.array(s.integer({ minimum: 1 }), 'From list_messages.', {
  minItems: 1,
  maxItems: 20,
});

/** What a new message consists of. */
export const composed = {
  to: s.string('Comma-separated: Ben <ben@example.org>.', {
    minLength: 1,
    maxLength: 4000,
  }),
  cc: s.optional(s.string('Others, seen by all.', { maxLength: 4000 })),
  bcc: s.optional(s.string('Others, seen by nobody.', { maxLength: 4000 })),
  subject: s.string('One line.', { maxLength: 500 }),
  text: s.string('Plain text.', { maxLength: 200_000 }),
};

/** What sending answers. */
export const sentOutput = s.object({
  to: s.string(),
  subject: s.string(),
  said: s.string('What the webmail told the person.'),
});

/** JSON Schema of a change to messages. */
export const changedOutput = s.object({
  changed: s.integer('How many messages.'),
  said: s.string('What the webmail told the person.'),
});
