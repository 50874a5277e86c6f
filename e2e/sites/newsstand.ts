// Feeds of sites that do not exist. Who reads them through this server, as through a proxy, gets what a test put there.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

export interface News {
  title: string;
  html: string;
  author?: string;
  tags?: readonly string[];
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

/** An address for documentation: nobody has it, and no name has to be looked up for it. */
const host = 'http://192.0.2.10';

export class Newsstand {
  readonly #answers = new Map<string, Answer>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(({ url = '', method }, response) => {
      const { status, type, body } = this.#answers.get(url) ?? nothing;
      response.writeHead(status, { 'content-type': type }).end(method === 'HEAD' ? undefined : body);
    });
  }

  static async open(closing: Closing): Promise<Newsstand> {
    const stand = new Newsstand();
    stand.#server.listen(0, '127.0.0.1');
    await once(stand.#server, 'listening');
    closing.defer(async () => {
      stand.#server.closeAllConnections();
      stand.#server.close();
    });
    return stand;
  }

  /** What PHP takes as an HTTP proxy. */
  get proxy(): string {
    return `tcp://127.0.0.1:${portOf(this.#server.address())}`;
  }

  /** Puts a feed there, or another one in its place; answers its address. */
  feed(name: string, news: readonly News[]): string {
    const body = `<?xml version="1.0" encoding="utf-8"?><rss version="2.0"
      xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
      <title>${escaped(name)}</title><link>${host}/</link><description>News</description>
      ${news.map((one, index) => item(name, one, index)).join('')}</channel></rss>`;
    return this.page(`/${encodeURIComponent(name)}.xml`, body, 'application/rss+xml');
  }

  page(pathname: string, body: string, type = 'text/html; charset=utf-8', status = 200): string {
    const url = `${host}${pathname}`;
    this.#answers.set(url, { status, type, body });
    return url;
  }
}

const nothing: Answer = { status: 404, type: 'text/plain', body: 'nothing here' };

const item = (name: string, { title, html, author = '', tags = [] }: News, index: number) => `<item>
  <title>${escaped(title)}</title><guid isPermaLink="false">${escaped(name)}-${index}</guid>
  <link>${host}/${encodeURIComponent(name)}/${index}</link>
  <pubDate>${new Date(Date.UTC(2026, 10, 20, 12, index)).toUTCString()}</pubDate>
  <dc:creator>${escaped(author)}</dc:creator>${tags.map((tag) => `<category>${escaped(tag)}</category>`).join('')}
  <description>${escaped(html)}</description></item>`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
