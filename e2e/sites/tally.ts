// A site that counts writes. It runs in the test's own process, so no fault that a test makes can make it forget.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

export class TallySite {
  readonly url: string;
  readonly #arrived: string[];

  constructor(url: string, arrived: string[]) {
    this.url = url;
    this.#arrived = arrived;
  }

  /** Tokens of the writes, in the order of their arrival. */
  get arrived(): readonly string[] {
    return this.#arrived;
  }

  /** How often each write arrived. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const token of this.#arrived) counts.set(token, (counts.get(token) ?? 0) + 1);
    return counts;
  }
}

export async function openTallySite(closing: Closing): Promise<TallySite> {
  const arrived: string[] = [];
  const server = createServer((request, answer) => {
    const token = /^\/writes\/([a-z0-9-]+)$/.exec(request.url ?? '')?.[1];
    if (request.method === 'POST' && token !== undefined) {
      arrived.push(token);
      answer.end('counted');
    } else if (request.url === '/writes') {
      answer.end(String(arrived.length));
    } else {
      answer.setHeader('content-type', 'text/html').end('<!doctype html><title>Tally</title><h1>Tally</h1>');
    }
  });
  // Chromium keeps connections open; closing one that it is about to use would lose a write.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return new TallySite(`http://127.0.0.1:${portOf(server.address())}`, arrived);
}
