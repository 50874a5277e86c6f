// A site of pages that a spec writes itself, by their paths.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

/** Opens a site on an origin of its own, and returns its address. A page whose value is a number is that status, and one
 * whose value is an address leads there. */
export async function openSite(
  closing: Closing,
  pages: Record<string, string | number | URL>,
): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const page = pages[pathname.slice(1)];
    if (page === undefined || typeof page === 'number') {
      response.writeHead(page ?? 404).end();
      return;
    }
    if (page instanceof URL) {
      response.writeHead(302, { location: page.href }).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server.address())}`;
}
