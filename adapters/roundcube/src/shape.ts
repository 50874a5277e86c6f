// Pieces of JSON Schema that several tools share.

import * as s from '@tabrelay/plugin-sdk/schema';

export const nextOffset = s.integer('Present when there are more.');

/** The arguments that page through a list. */
export const paging = {
  limit: s.integer('How many to list.', { minimum: 1, maximum: 50, default: 10 }),
  offset: s.integer('From nextOffset of the answer before.', { minimum: 0, default: 0 }),
};

export const folder = s.string('The path of a folder, from list_folders.', {
  minLength: 1,
  default: 'INBOX',
});

export const uid = s.integer('The uid of a message in that folder, from list_messages.', {
  minimum: 1,
});

export const uids = s.array(
  s.integer({ minimum: 1 }),
  'The uids of messages in that folder, from list_messages.',
  { minItems: 1, maxItems: 20 },
);

/** What a new message consists of. */
export const composed = {
  to: s.string('Addresses, with commas between them: Ben <ben@example.org>.', {
    minLength: 1,
    maxLength: 4000,
  }),
  cc: s.optional(s.string('Further addresses that all see.', { maxLength: 4000 })),
  bcc: s.optional(s.string('Further addresses that nobody sees.', { maxLength: 4000 })),
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
