import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, isTrue, objectAt, objectsIn, textsIn } from '@tabrelay/plugin-sdk/json';
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
    const password = objectAt(methods, 'password');
    const oauth2 = objectAt(methods, 'oauth2');
    return {
      password: isTrue(password.enabled),
      identityFields: textsIn(password.identityFields),
      oneTimePassword: isTrue(objectAt(methods, 'otp').enabled),
      secondFactor: isTrue(objectAt(methods, 'mfa').enabled),
      oauth2: isTrue(oauth2.enabled) ? objectsIn(oauth2.providers).map(({ name }) => asText(name)) : [],
    };
  },
});
