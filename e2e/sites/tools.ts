// Pages that register tools (WebMCP), each written by its test, with the polyfills that there are.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

const scripts = new Map([
  ['/polyfill.js', '@mcp-b/webmcp-polyfill'],
  ['/global.js', '@mcp-b/global'],
]);

export interface ToolSite {
  /** The same server under two names, which are two origins. */
  url: string;
  other: string;
  /** What the names of its tools begin with, at url and at other. */
  prefix: string;
  otherPrefix: string;
}

/** Opens a site whose pages have these bodies, by path. */
export async function openToolSite(closing: Closing, pages: Record<string, string>): Promise<ToolSite> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const script = scripts.get(pathname);
    if (script !== undefined) {
      readFile(path.join(path.dirname(fileURLToPath(import.meta.resolve(script))), 'index.iife.js')).then(
        (code) => response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(code),
        () => response.writeHead(500).end(),
      );
      return;
    }
    const body = pages[pathname];
    const type = { 'content-type': 'text/html; charset=utf-8' };
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, type).end(`<!doctype html><title>${pathname}</title>${body}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  const port = portOf(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    other: `http://localhost:${port}`,
    prefix: `web__127_0_0_1_${port}__`,
    otherPrefix: `web__localhost_${port}__`,
  };
}
