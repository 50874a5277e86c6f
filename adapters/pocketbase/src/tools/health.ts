import { defineTool } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';
import { baseUrl, loginUrl, token } from '../session.ts';

export const health = defineTool({
  name: 'health',
  displayName: 'Health',
  description:
    'Whether the server answers and whether a superuser is signed in to its dashboard. Works signed out too.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: {
    type: 'object',
    properties: {
      server: { type: 'string' },
      message: { type: 'string' },
      signedIn: { type: 'boolean' },
      loginUrl: { type: 'string' },
      canBackup: {
        type: 'boolean',
        description: 'False while a backup is being made; only known signed in.',
      },
    },
    required: ['server', 'message', 'signedIn', 'loginUrl'],
  },
  async handle(_, { signal }) {
    const answer = await get('health', {}, signal);
    const canBackup = answer.at('data').maybe('canBackup')?.boolean();
    return {
      server: baseUrl(),
      message: answer.string('message'),
      signedIn: token() !== undefined,
      loginUrl: loginUrl(),
      ...(canBackup === undefined ? {} : { canBackup }),
    };
  },
});
