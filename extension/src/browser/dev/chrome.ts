// Tools whose work Chrome does, and the page has no part in.
import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';

const byWorker = (): never => {
  throw ToolError.internal('The extension is older than its tools: reload it');
};

export const cookies = defineTool({
  name: 'cookies',
  displayName: 'Look at cookies',
  description:
    'Cookies of the page’s site: list, get, set and remove. A list masks values; one that is HttpOnly is never shown.',
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: s.parameters({
    action: s.choice(['list', 'get', 'set', 'remove']),
    name: s.optional(s.string({ minLength: 1 })),
    value: s.optional(s.string()),
    path: s.optional(s.string('Of the cookie, where several have the name. Default /.')),
    domain: s.optional(s.string('The same, as listed; not for set.')),
    seconds: s.optional(s.integer('It lasts. Default: until the browser ends.', { minimum: 1 })),
    sameSite: s.optional(s.choice(['lax', 'strict', 'none'])),
    secure: s.optional(s.boolean()),
  }),
  handle: byWorker,
});

export const downloads = defineTool({
  name: 'downloads',
  displayName: 'Look at downloads',
  description: 'Downloads from the page’s site, the newest first: state, file, size, and why one failed.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    state: s.optional(s.choice(['in_progress', 'interrupted', 'complete'])),
    contains: s.optional(s.string('Words in the file’s name or the address.')),
    limit: s.optional(s.integer('Default 20.', { minimum: 1, maximum: 200 })),
  }),
  handle: byWorker,
});

export const pdf = defineTool({
  name: 'pdf',
  displayName: 'Make a PDF',
  description: 'The page as a PDF, kept as a resource. Needs `tabrelay up --trusted-input`.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    landscape: s.optional(s.boolean()),
    background: s.optional(s.boolean('Default true.')),
    pages: s.optional(s.string('Such as 1-3, 5.')),
  }),
  handle: byWorker,
});

export const emulate = defineTool({
  name: 'emulate',
  displayName: 'Emulate a device',
  description:
    'Makes the tab look like another device until reset, ten minutes without a call, or its end. Needs `tabrelay up ' +
    '--trusted-input`.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({
    viewport: s.optional(
      s.parameters({
        width: s.integer({ minimum: 0, maximum: 10_000 }),
        height: s.integer({ minimum: 0, maximum: 10_000 }),
        scale: s.optional(s.number({ minimum: 0, maximum: 10 })),
        mobile: s.optional(s.boolean()),
      }),
    ),
    colorScheme: s.optional(s.choice(['light', 'dark'])),
    reducedMotion: s.optional(s.boolean()),
    offline: s.optional(s.boolean()),
    geolocation: s.optional(
      s.parameters({
        latitude: s.number({ minimum: -90, maximum: 90 }),
        longitude: s.number({ minimum: -180, maximum: 180 }),
        accuracy: s.optional(s.number({ minimum: 0 })),
      }),
    ),
    userAgent: s.optional(s.string()),
    cpu: s.optional(s.number('How many times slower.', { minimum: 1, maximum: 20 })),
    reset: s.optional(s.boolean('Ends all of it.')),
  }),
  handle: byWorker,
});
