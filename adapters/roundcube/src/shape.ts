// Pieces of JSON Schema that several tools share.

/** An object of an answer: all its fields are present, but those named. */
export function record<const P extends object, const Missing extends string = never>(
  properties: P,
  ...mayMiss: Missing[]
) {
  const required = Object.keys(properties).filter(
    (name): name is Exclude<keyof P & string, Missing> => !mayMiss.some((one) => one === name),
  );
  return { type: 'object', properties, required } as const;
}

export const nextOffset = { type: 'integer', description: 'Present when there are more.' } as const;

/** The arguments that page through a list. */
export const paging = {
  limit: { type: 'integer', minimum: 1, maximum: 50, default: 10, description: 'How many to list.' },
  offset: { type: 'integer', minimum: 0, default: 0, description: 'From nextOffset of the answer before.' },
} as const;

export const folder = {
  type: 'string',
  minLength: 1,
  default: 'INBOX',
  description: 'The path of a folder, from list_folders.',
} as const;

export const uid = {
  type: 'integer',
  minimum: 1,
  description: 'The uid of a message in that folder, from list_messages.',
} as const;

export const uids = {
  type: 'array',
  items: { type: 'integer', minimum: 1 },
  minItems: 1,
  maxItems: 20,
  description: 'The uids of messages in that folder, from list_messages.',
} as const;

const addresses = { type: 'string', maxLength: 4000 } as const;

/** What a new message consists of. */
export const composed = {
  to: {
    ...addresses,
    minLength: 1,
    description: 'Addresses, with commas between them: Ben <ben@example.org>.',
  },
  cc: { ...addresses, description: 'Further addresses that all see.' },
  bcc: { ...addresses, description: 'Further addresses that nobody sees.' },
  subject: { type: 'string', maxLength: 500, description: 'One line.' },
  text: { type: 'string', maxLength: 200000, description: 'Plain text.' },
} as const;

/** What sending answers. */
export const sentOutput = record({
  to: { type: 'string' },
  subject: { type: 'string' },
  said: { type: 'string', description: 'What the webmail told the person.' },
});

/** JSON Schema of a change to messages. */
export const changedOutput = record({
  changed: { type: 'integer', description: 'How many messages.' },
  said: { type: 'string', description: 'What the webmail told the person.' },
});
