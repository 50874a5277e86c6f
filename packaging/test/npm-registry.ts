// The npm packages of a release, and a registry that has them and nothing else.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { dist, sourceVersion } from '../product.ts';
import { printed } from '../run.ts';

const version = sourceVersion();

interface Tarball {
  file: string;
  manifest: { version: string; optionalDependencies?: Record<string, string> };
}

/** The packages that were built, by their names. */
export function tarballs(): Map<string, Tarball> {
  const folder = path.join(dist, 'npm');
  assert.ok(existsSync(folder), 'make snapshot builds the packages');
  return new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.tgz'))
      .map((name) => {
        const file = path.join(folder, name);
        const manifest = JSON.parse(printed('tar', ['xzOf', file, 'package/package.json']));
        return [manifest.name, { file, manifest }];
      }),
  );
}

/** A registry with the packages that were built, which answers as npm's does. */
export async function serve(t: { after(close: () => void): void }) {
  const packages = tarballs();
  const server = createServer((request, response) => {
    const wanted = decodeURIComponent(request.url ?? '').slice(1);
    const found = packages.get(wanted);
    const file = packages.get(wanted.replace(/\.tgz$/, ''));
    if (found) {
      const integrity = `sha512-${createHash('sha512').update(readFileSync(found.file)).digest('base64')}`;
      const tarball = `${address}/${encodeURIComponent(wanted)}.tgz`;
      const versions = { [version]: { ...found.manifest, dist: { tarball, integrity } } };
      response.end(JSON.stringify({ name: wanted, 'dist-tags': { latest: version }, versions }));
    } else if (file) response.end(readFileSync(file.file));
    else response.writeHead(404).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  assert.ok(bound && typeof bound === 'object');
  const address = `http://127.0.0.1:${bound.port}`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  t.after(close);
  return { address, close };
}
