import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { collectionInput } from '../records.ts';

export const listAuthMethods = defineTool({
  name: 'list_auth_methods',
  displayName: 'Ways to sign in',
  description:
    'How users of an auth collection can sign in: password, one-time password, OAuth2 ' +
    'providers, second factor.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    collection: { ...collectionInput, default: 'users' },
  }),
  output: s.object({
    password: s.boolean(),
    identityFields: s.array(s.string(), { maxItems: 50 }),
    oneTimePassword: s.boolean(),
    secondFactor: s.boolean(),
    oauth2: s.array(s.string(), 'Names of the providers.', { maxItems: 100 }),
  }),
  async handle({ collection }, { signal }) {
    const methods = await get(
      `collections/${encodeURIComponent(collection)}/auth-methods`,
      {},
      signal,
    );
    const providers = methods.list('oauth2', 'providers').map((one) => one.string('name'));
    return {
      password: methods.boolean('password', 'enabled'),
      identityFields: methods.strings('password', 'identityFields'),
      oneTimePassword: methods.boolean('otp', 'enabled'),
      secondFactor: methods.boolean('mfa', 'enabled'),
      oauth2: methods.boolean('oauth2', 'enabled') ? providers : [],
    };
  },
});
