// Pages that make it hard for an extension. Everything else is passed on to the demo site, so that the tools of the
// demo plugin work on these pages as they do there.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

interface Page {
  headers: Record<string, string>;
  body: string;
}

const script = (name: string) => readFileSync(path.join(import.meta.dirname, `${name}.js`), 'utf8');
const vandal = script('vandal');

const pages: Record<string, Page> = {
  '/hostile/csp': {
    headers: {
      'content-security-policy':
        "default-src 'none'; script-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    },
    body: '<title>Strict policy</title><h1>Nothing may run here</h1>',
  },
  '/hostile/attacker': {
    headers: {},
    body: `<title>Attacker</title><script>{${script('attacker')}}</script><h1>Nice pictures</h1>`,
  },
  '/hostile/thief.js': {
    headers: { 'content-type': 'text/javascript', 'service-worker-allowed': '/' },
    body: script('thief'),
  },
  '/hostile/globals': { headers: {}, body: `<title>Replaced globals</title><script>{${vandal}}</script>` },
  '/hostile/impostor': {
    headers: {},
    body: `<title>Impostor</title><script>{${script('impostor')}}</script>`,
  },
  '/hostile/hung': { headers: {}, body: `<title>Hung</title><script>{${script('hung')}}</script>` },
};

/** Opens the site in front of a demo site and returns its address. */
export async function openHostileSite(demo: string, closing: Closing): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const { pathname } = new URL(incoming.url ?? '/', demo);
    const page = pages[pathname];
    if (pathname === '/hostile/echo') echo(incoming, outgoing);
    else if (page) outgoing.writeHead(200, { 'content-type': 'text/html', ...page.headers }).end(page.body);
    else passOn(demo, incoming, outgoing);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server.address())}`;
}

/** Answers what it was sent. */
async function echo(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method, headers } = incoming;
  const token = headers['x-token'] ?? null;
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ method, token, body: await text(incoming) }));
}

function passOn(demo: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method = 'GET', url = '/', headers } = incoming;
  const onward = request(
    new URL(url, demo),
    { method, headers: { ...headers, host: new URL(demo).host } },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    },
  );
  onward.on('error', () => outgoing.writeHead(502).end());
  incoming.pipe(onward);
}
