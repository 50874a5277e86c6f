// A site for developers' tools: requests of every kind, a console that says much, storage, and a strict page.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

// With an icon of its own: Chrome asks for one at a moment of its choosing, and tests count requests.
const html = (body: string): string =>
  `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>Dev</title>${body}`;

const pages = new Map([
  [
    '/talk',
    html(`<h1>Talk</h1><script>
      addEventListener('load', () => document.body.append(Object.assign(new Image(), { src: '/missing.png' })));
    </script>`),
  ],
  ['/plain', html('<h1>Plain</h1><div id="root"><p>one</p></div>')],
  [
    '/hostile',
    html(`<h1>Hostile</h1><script>
      JSON.stringify = () => 'forged'; JSON.parse = () => { throw new Error('forged'); };
      console.log = () => {}; window.fetch = () => Promise.reject(new Error('no fetch'));
      Array.prototype.toJSON = () => 'forged'; Object.prototype.evil = 'inherited';
      Array.prototype.push = () => { throw new Error('no push'); };
      Promise.prototype.constructor = function () { throw new Error('no promises'); };
    </script>`),
  ],
]);

function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://site');
  const page = pages.get(url.pathname);
  if (page !== undefined || url.pathname === '/strict') {
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'set-cookie': ['session=verysecret; HttpOnly', 'theme=dark'],
      ...(url.pathname === '/strict' && { 'content-security-policy': "script-src 'self'" }),
    });
    response.end(page ?? html('<h1>Strict</h1>'));
  } else if (url.pathname === '/api') {
    response.writeHead(200, { 'content-type': 'application/json', 'x-auth-token': 'abcdef123456' });
    response.end(JSON.stringify({ name: 'Ada', access_token: 'verysecret', list: [1, 2, 3] }));
  } else if (url.pathname === '/moved') {
    response.writeHead(302, { location: '/api?token=verysecret' }).end();
  } else {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing');
  }
}

export async function openDevSite(closing: Closing): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server.address())}`;
}
