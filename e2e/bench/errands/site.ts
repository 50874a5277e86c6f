// The pages of the comparison: each sends what was done in it to the server, which is asked whether it is right.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import type { Closing } from '../../stage/closing.ts';
import { portOf } from '../../stage/port.ts';

const folder = path.join(import.meta.dirname, 'testdata');

export interface PageSite {
  url: string;
  /** What a page has sent, in the order it came. */
  sent(page: string): unknown[];
}

export async function openPages(closing: Closing): Promise<PageSite> {
  const sent = new Map<string, unknown[]>();
  const server = createServer((request, response) => {
    answer(request, response, sent).catch(() => response.writeHead(404).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    sent: (page) => sent.get(page) ?? [],
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  sent: Map<string, unknown[]>,
): Promise<void> {
  const name = new URL(request.url ?? '/', 'http://site').pathname.slice(1);
  if (name.startsWith('done/')) {
    const page = name.slice('done/'.length);
    sent.set(page, [...(sent.get(page) ?? []), JSON.parse(await text(request))]);
    response.end();
  } else if (name === 'writing.js') {
    const options = { bundle: true, write: false, minify: true, format: 'iife' } as const;
    const { outputFiles } = await build({ entryPoints: [path.join(folder, 'writing.ts')], ...options });
    response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' });
    response.end(outputFiles[0]?.text);
  } else {
    const html = await readFile(path.join(folder, `${path.basename(name)}.html`));
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  }
}
