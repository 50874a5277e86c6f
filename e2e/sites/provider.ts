// People who sign in with an OpenID Connect provider, and the official MCP client that has them do it.

import { createServer } from 'node:http';
import path from 'node:path';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { BrowserContext, Page } from '@playwright/test';
import { Agent } from '../stage/agent.ts';
import type { Closing } from '../stage/closing.ts';
import { newerNode } from '../stage/outside.ts';
import { repository } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { start } from '../stage/process.ts';
import { answers } from './answers.ts';

/** What an agent has of its person's signing in. */
export class SignIn implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  readonly clientMetadata;
  held: OAuthTokens | undefined;
  asked: URL | undefined;
  #client: OAuthClientInformationMixed | undefined;
  #verifier = '';

  /** known is a client that the provider knows; without it the client registers, or names its document. */
  constructor(redirectUrl: string, known?: string, document?: string) {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = {
      client_name: 'Claude Code',
      redirect_uris: [redirectUrl],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
    if (known !== undefined) this.#client = { client_id: known };
    if (document !== undefined) this.clientMetadataUrl = document;
  }

  clientInformation = () => this.#client;
  saveClientInformation = (client: OAuthClientInformationMixed) => {
    this.#client = client;
  };
  tokens = () => this.held;
  saveTokens = (tokens: OAuthTokens) => {
    this.held = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.asked = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
}

export class OidcProvider {
  readonly issuer: string;
  readonly #callback: string;
  readonly #codes: ((code: string) => void)[];

  private constructor(issuer: string, callback: string, codes: ((code: string) => void)[]) {
    this.issuer = issuer;
    this.#callback = callback;
    this.#codes = codes;
  }

  /** document is the address of a Client ID Metadata Document that is published. */
  static async open(closing: Closing, resource: string, document: string): Promise<OidcProvider> {
    const issuer = `http://127.0.0.1:${await freePort()}`;
    const codes: ((code: string) => void)[] = [];
    const server = createServer((request, response) => {
      const code = new URL(request.url ?? '', 'http://127.0.0.1').searchParams.get('code');
      response.end('You may close this tab.');
      if (code !== null) codes.shift()?.(code);
    });
    const port = await freePort();
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
    closing.defer(() => new Promise((done) => server.close(done)));
    const callback = `http://127.0.0.1:${port}/callback`;
    const program = start(
      newerNode,
      [
        '--import',
        'tsx',
        path.join(repository, 'e2e/sites/serve-provider.ts'),
        issuer,
        resource,
        document,
        callback,
      ],
      {},
    );
    closing.defer(() => program.stop());
    await answers(`${issuer}/.well-known/openid-configuration`);
    return new OidcProvider(issuer, callback, codes);
  }

  /** Connects an agent: its person signs in under a name, in a tab of a browser. */
  async connect(
    url: string,
    closing: Closing,
    browser: BrowserContext,
    name: string,
    client: { known?: string; document?: string } = {},
  ): Promise<{ agent: Agent; signIn: SignIn; client: Client }> {
    const signIn = new SignIn(this.#callback, client.known, client.document);
    const first = new StreamableHTTPClientTransport(new URL(url), { authProvider: signIn });
    await new Client({ name, version: '1.0.0' }).connect(first).then(
      () => Promise.reject(new Error('it was let in without signing in')),
      () => {}, // UnauthorizedError: the person signs in now
    );
    if (signIn.asked === undefined) throw new Error('the client was not sent to the provider');
    const code = new Promise<string>((done) => this.#codes.push(done));
    await browser.clearCookies(); // or the provider would know who was here before
    const page = await browser.newPage();
    await page.goto(signIn.asked.href);
    await this.#signIn(page, name);
    await first.finishAuth(await code);
    await page.close();
    const connected = new Client({ name, version: '1.0.0' });
    closing.defer(() => connected.close());
    await connected.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: signIn }));
    return { agent: new Agent(connected), signIn, client: connected };
  }

  async #signIn(page: Page, name: string): Promise<void> {
    await page.locator('input[name=login]').fill(name);
    await page.locator('input[name=password]').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('You may close this tab.').waitFor();
  }
}
