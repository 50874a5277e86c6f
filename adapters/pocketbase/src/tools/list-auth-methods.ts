import { defineTool } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';
import { collectionInput } from '../records.ts';

export const listAuthMethods = defineTool({
  name: 'list_auth_methods',
  displayName: 'Ways to sign in',
  description:
    'How users of an auth collection can sign in: password, one-time password, OAuth2 providers, second factor.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: { collection: { ...collectionInput, default: 'users' } },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      password: { type: 'boolean' },
      identityFields: { type: 'array', maxItems: 50, items: { type: 'string' } },
      oneTimePassword: { type: 'boolean' },
      secondFactor: { type: 'boolean' },
      oauth2: {
        type: 'array',
        maxItems: 100,
        items: { type: 'string' },
        description: 'Names of the providers.',
      },
    },
    required: ['password', 'identityFields', 'oneTimePassword', 'secondFactor', 'oauth2'],
  },
  async handle({ collection }, { signal }) {
    const methods = await get(`collections/${encodeURIComponent(collection)}/auth-methods`, {}, signal);
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
