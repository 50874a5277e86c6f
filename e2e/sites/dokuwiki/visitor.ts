// A person with a browser of their own, as the wiki sees one: requests with cookies.

import { expect } from '@playwright/test';

export class Visitor {
  readonly #wiki: string;
  readonly #cookies = new Map<string, string>();

  private constructor(wiki: string) {
    this.#wiki = wiki;
  }

  static async signIn(wiki: string, name: string, password: string): Promise<Visitor> {
    const visitor = new Visitor(wiki);
    const sectok = hidden(await visitor.#open({ do: 'login' }), 'sectok');
    await visitor.#send({ do: 'login', sectok, u: name, p: password });
    expect(await visitor.#open({ do: 'profile' })).toContain(`value="${name}"`);
    return visitor;
  }

  /** The source of a page; empty where there is none. */
  async raw(id: string): Promise<string> {
    const response = await this.#fetch({ id, do: 'export_raw' });
    return response.headers.get('content-type')?.startsWith('text/plain') ? response.text() : '';
  }

  /** The newest revision of a page first. */
  async revisions(id: string): Promise<number[]> {
    const page = await this.#open({ id, do: 'revisions' });
    return [...page.matchAll(/name="rev2\[\]"[^>]*value="(\d+)"/g)].map(([, revision]) => Number(revision));
  }

  /** Opens the editor, which locks the page. */
  async edit(id: string): Promise<string> {
    return this.#open({ id, do: 'edit' });
  }

  /** Saves a page in the editor; not in the second of the save before, because a revision is named by it. */
  async save(id: string, wikitext: string, summary = ''): Promise<void> {
    const [before = 0] = await this.revisions(id);
    await expect.poll(() => Date.now() / 1000).toBeGreaterThan(before + 1);
    const form = await this.edit(id);
    const fields = Object.fromEntries(
      ['sectok', 'date', 'changecheck'].map((name) => [name, hidden(form, name)]),
    );
    await this.#send({ ...fields, id, prefix: '.', suffix: '', wikitext, summary, 'do[save]': '1' });
    expect((await this.raw(id)).trim()).toBe(wikitext.trim());
  }

  /** What the wiki keeps of an editor that is open, as its script does. */
  async keepDraft(id: string, wikitext: string): Promise<void> {
    const date = hidden(await this.edit(id), 'date');
    const body = new URLSearchParams({ call: 'lock', id, wikitext, date, prefix: '.', suffix: '' });
    await this.#request(`${this.#wiki}/lib/exe/ajax.php`, { method: 'POST', body });
  }

  async #open(query: Record<string, string>): Promise<string> {
    return (await this.#fetch(query)).text();
  }

  #fetch(query: Record<string, string>): Promise<Response> {
    return this.#request(`${this.#wiki}/doku.php?${new URLSearchParams(query)}`);
  }

  async #send(fields: Record<string, string>): Promise<void> {
    const body = new URLSearchParams(fields);
    const response = await this.#request(`${this.#wiki}/doku.php`, { method: 'POST', body });
    expect(response.status).toBeLessThan(400);
  }

  async #request(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { ...init, headers: { cookie }, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }
}

const hidden = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
