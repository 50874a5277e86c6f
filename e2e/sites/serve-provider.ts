// An OpenID Connect provider, oidc-provider, with the interface for signing in that it has for developers: every name
// is an account. Run with the Node that it needs: serve-provider.ts ORIGIN RESOURCE CLIENT-DOCUMENT-URL CALLBACK

import Provider, { type Configuration } from 'oidc-provider';

const [, , issuer = '', resource = '', document = '', callback = ''] = process.argv;

const client = {
  redirect_uris: [callback],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
} as const;

const configuration: Configuration = {
  clients: [
    { ...client, client_id: 'codex', grant_types: [...client.grant_types], response_types: ['code'] },
  ],
  scopes: ['openid', 'offline_access', 'tabrelay', 'tabrelay:read'],
  issueRefreshToken: async () => true,
  features: {
    registration: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'tabrelay tabrelay:read',
        audience: resource,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  // The one document of a client that is published anywhere here.
  fetch: async (url) =>
    String(url) === document
      ? Response.json({ ...client, client_id: document, client_name: 'Claude' })
      : Response.json({}, { status: 404 }),
};

new Provider(issuer, configuration).listen(Number(new URL(issuer).port), '127.0.0.1');
