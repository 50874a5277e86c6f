import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { baseUrl, loginUrl, token } from '../session.ts';

export const health = defineTool({
  name: 'health',
  displayName: 'Health',
  description:
    'Whether the server answers and whether a superuser is signed in to its dashboard. ' +
    'Works signed out too.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: s.parameters({}),
  output: s.object({
    server: s.string(),
    message: s.string(),
    signedIn: s.boolean(),
    loginUrl: s.string(),
    canBackup: s.optional(s.boolean('False while a backup is being made; only known signed in.')),
  }),
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
