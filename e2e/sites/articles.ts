// Pages to read: those of the fixtures, and what only a browser can make of them.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import type { Closing } from '../stage/closing.ts';
import { repository } from '../stage/paths.ts';
import { portOf } from '../stage/port.ts';

const fixtures = path.join(repository, 'extension/test/testdata');
const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="SIZE" height="SIZE"><rect width="9" height="9"/></svg>';

const huge = () => {
  const words = (i: number) =>
    `<p>paragraph number ${i} with <b>some</b> words so that it is about a hundred characters long</p>`;
  const rows = Array.from({ length: 5000 }, (_, i) => `<tr><td>${i}</td><td>value ${i}</td></tr>`).join('');
  const links = Array.from({ length: 5000 }, (_, i) => `<a href="/l${i}">link ${i}</a>`).join('\n');
  return (
    `<!doctype html><title>Huge</title><table><caption>All</caption><tr><th>n</th><th>v</th></tr>${rows}</table>` +
    `${links}${Array.from({ length: 100_000 }, (_, i) => words(i)).join('\n')}<p>the very end</p>`
  );
};

const long = () => {
  const words = 'some words of a paragraph that goes on and on '.repeat(43);
  const all = Array.from({ length: 5000 }, (_, i) => `<p>paragraph number ${i} with ${words}</p>`);
  return `<!doctype html><title>Long</title>${all.join('\n')}<p>the very end</p>`;
};

const strict =
  "default-src 'none'; script-src 'none'; style-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

interface Served {
  body: string;
  type?: string;
  csp?: string;
}

async function serve(name: string): Promise<Served> {
  if (name === 'pot.svg' || name === 'dot.svg') {
    return { body: picture.replaceAll('SIZE', name === 'pot.svg' ? '100' : '4'), type: 'image/svg+xml' };
  }
  if (name === 'huge') return { body: huge() };
  if (name === 'long') return { body: long() };
  if (name === 'plain') return { body: 'just text <b>not bold</b>', type: 'text/plain' };
  if (name === 'private') return { body: '<!doctype html><title>Private</title><p>private words</p>' };
  if (name === 'strict')
    return { body: await readFile(path.join(fixtures, 'article.html'), 'utf8'), csp: strict };
  if (name === 'deep') {
    const deep =
      "let at = document.body; for (let i = 0; i < 1500; i++) at = at.appendChild(document.createElement('div'));" +
      "at.textContent = 'deep words'";
    return { body: `<!doctype html><title>Deep</title><p>shallow words</p><script>${deep}</script>` };
  }
  return { body: await readFile(path.join(fixtures, `${name}.html`), 'utf8') };
}

/** Opens the site and returns its address. */
export async function openPages(closing: Closing): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    serve(pathname.slice(1)).then(
      ({ body, type = 'text/html; charset=utf-8', csp }) => {
        response.writeHead(200, { 'content-type': type, ...(csp && { 'content-security-policy': csp }) });
        response.end(body);
      },
      () => response.writeHead(404).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server.address())}`;
}
