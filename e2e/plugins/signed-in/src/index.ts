import { definePlugin, defineTool, getMetaContent } from '@tabrelay/plugin-sdk';

const none = { type: 'object', properties: {}, additionalProperties: false } as const;

const whoAmI = defineTool({
  name: 'who_am_i',
  description: 'The person who is signed in.',
  annotations: { readOnlyHint: true },
  input: none,
  handle: (_, { frame, settings }) => ({ user: getMetaContent('user'), top: frame.top, settings }),
});

const readTitle = defineTool({
  name: 'read_title',
  description: 'The title of the page, for everybody.',
  annotations: { readOnlyHint: true },
  input: none,
  signIn: false,
  handle: () => ({ title: document.title }),
});

export default definePlugin({
  tools: [whoAmI, readTitle],
  signIn: { isSignedIn: () => getMetaContent('user') !== undefined, loginUrl: '/login', waitMs: 1500 },
  settings: { limit: { type: 'number', default: 5 }, password: { type: 'string' } },
});
