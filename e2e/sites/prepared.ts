// A site whose pages prepare each other.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import path from 'node:path';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

const script = readFileSync(path.join(import.meta.dirname, 'prepared.js'), 'utf8');

const body = (title: string) => `<!doctype html><title>${title}</title><script>{${script}}</script>
<a id="blank" target="_blank" href="/page">new tab</a> <a id="opener" target="_blank" rel="opener" href="/page">mine</a>
<a id="plain" href="/page">here</a> <iframe name="inside"></iframe>`;

/** Opens the site and returns its address. A page below /slow/ shows nothing until somebody asks for /release. */
export async function openPreparedSite(closing: Closing): Promise<string> {
  const slow: ServerResponse[] = [];
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://prepared.test');
    if (pathname === '/never') return;
    response.setHeader('content-type', 'text/html');
    if (pathname === '/coop') response.setHeader('cross-origin-opener-policy', 'same-origin');
    if (pathname === '/release') for (const one of slow.splice(0)) one.end(body('Slow'));
    if (!pathname.startsWith('/slow')) response.end(body('Page'));
    else {
      slow.push(response);
      response.flushHeaders();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server.address())}`;
}
