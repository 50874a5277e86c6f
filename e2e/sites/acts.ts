// Pages to act in: fields and widgets of every kind, and those that mean no good.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import type { Closing } from '../stage/closing.ts';
import { repository } from '../stage/paths.ts';
import { portOf } from '../stage/port.ts';

const folder = path.join(repository, 'e2e/sites/testdata/acts');

export interface ActSite {
  url: string;
  /** What the pages have sent to /count/NAME, by name. */
  counted: Map<string, number>;
}

/** Opens the site. */
export async function openActSite(closing: Closing): Promise<ActSite> {
  const counted = new Map<string, number>();
  const server = createServer((request, response) => {
    answer(request, response, counted).catch(() => response.writeHead(404).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${portOf(server.address())}`, counted };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  counted: Map<string, number>,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://site');
  const name = pathname.slice(1);
  if (name.startsWith('count/')) {
    counted.set(name.slice(6), (counted.get(name.slice(6)) ?? 0) + 1);
    response.end('counted');
  } else if (name === 'slow') {
    setTimeout(() => response.end('answered'), 150);
  } else if (name === 'broken') {
    response.writeHead(503).end('not today');
  } else if (name === 'endless') {
    // It is shown, and never done with loading.
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<title>Endless</title><a href="next">To the next page</a><img src="never.png" alt="">');
  } else if (name === 'never.png') {
    response.writeHead(200, { 'content-type': 'image/png' }).write('');
  } else if (name === 'report.csv') {
    const type = { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="report.csv"' };
    response.writeHead(200, type).end('a,b\n1,2\n');
  } else if (name === 'editors.js' || name === 'editors.css') {
    const types = { js: 'text/javascript', css: 'text/css' };
    const extension = name === 'editors.js' ? 'js' : 'css';
    response.writeHead(200, { 'content-type': `${types[extension]}; charset=utf-8` });
    response.end((await editors())[extension]);
  } else {
    const html = await readFile(path.join(folder, `${path.basename(name)}.html`));
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  }
}

interface Bundle {
  js: string;
  css: string;
}

// Built once for each version of the packages: the editors are large.
async function editors(): Promise<Bundle> {
  const source = path.join(repository, 'e2e/sites/editors/editors.ts');
  const parts = [source, path.join(repository, 'package-lock.json')];
  const hash = createHash('sha256');
  for (const part of parts) hash.update(await readFile(part));
  const kept = path.join(tmpdir(), `tabrelay-e2e-editors-${hash.digest('hex').slice(0, 16)}`);
  const [js, css] = [path.join(kept, 'editors.js'), path.join(kept, 'editors.css')];
  try {
    return { js: await readFile(js, 'utf8'), css: await readFile(css, 'utf8') };
  } catch {
    const { outputFiles } = await build({
      entryPoints: [source],
      outdir: kept,
      bundle: true,
      format: 'iife',
      write: false,
      minify: true,
      loader: { '.ttf': 'dataurl' },
      define: { 'process.env.NODE_ENV': '"production"' },
      logLevel: 'error',
    });
    const of = (end: string) => outputFiles.find((file) => file.path.endsWith(end))?.text ?? '';
    await mkdir(kept, { recursive: true });
    await writeFile(css, of('.css'));
    await writeFile(js, of('.js'));
    return { js: of('.js'), css: of('.css') };
  }
}
