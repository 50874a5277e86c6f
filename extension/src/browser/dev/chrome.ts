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
    'Cookies of the page’s site: list, get, set and remove. A list masks values; one that is HttpOnly is never told.',
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: s.parameters({
    action: s.choice(['list', 'get', 'set', 'remove']),
    name: s.optional(s.string({ minLength: 1 })),
    value: s.optional(s.string()),
    path: s.optional(s.string('Of the cookie, where several have the name. Default /.')),
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
