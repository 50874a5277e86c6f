// A signed-in person as the wiki sees them: a set of cookies.

import assert from 'node:assert/strict';

const password = 'correct horse battery';
const network = globalThis.fetch;

export class Session {
  readonly #wiki: string;
  readonly #cookies = new Map<string, string>();

  private constructor(wiki: string) {
    this.#wiki = wiki;
  }

  static async open(wiki: string, name?: string): Promise<Session> {
    const session = new Session(wiki);
    if (name === undefined) return session;
    const logintoken = await session.#token('login');
    const answer = await session.#ask({
      action: 'clientlogin',
      username: name,
      password,
      logintoken,
      loginreturnurl: wiki,
    });
    assert.equal(answer.clientlogin.status, 'PASS');
    return session;
  }

  async edit(title: string, text: string): Promise<void> {
    const answer = await this.#ask({ action: 'edit', title, text, token: await this.#token('csrf') });
    assert.equal(answer.edit.result, 'Success');
  }

  async fetch(request: Request): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await network(
      new Request(request, { headers: { ...Object.fromEntries(request.headers), cookie } }),
    );
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }

  async #token(type: string): Promise<string> {
    const answer = await this.#ask({ action: 'query', meta: 'tokens', type });
    return answer.query.tokens[`${type}token`];
  }

  async #ask(params: Record<string, string>) {
    const body = new URLSearchParams({ ...params, format: 'json', formatversion: '2' });
    return (await this.fetch(new Request(`${this.#wiki}/api.php`, { method: 'POST', body }))).json();
  }
}
