// A package registry with one package: a folder of node_modules, packed as npm does.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import type { Closing } from './closing.ts';
import { repository, temporaryFolder } from './paths.ts';
import { portOf } from './port.ts';
import { run } from './process.ts';

/** Serves a package without dependencies; resolves with the registry's address. */
export async function registryWith(name: string, closing: Closing): Promise<string> {
  const file = path.join(await temporaryFolder('registry', closing), 'package.tgz');
  await run('tar', ['czhf', file, '-C', path.join(repository, 'node_modules'), name]);
  return registryOf(await readFile(file), closing);
}

/** Serves a tarball as version 1.0.0 of whatever is asked for; a silent registry never sends it. */
export async function registryOf(tarball: Buffer, closing: Closing, silent = false): Promise<string> {
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const server = createServer((request, response) => {
    if (request.url === '/package.tgz') {
      if (!silent) response.end(tarball);
      return;
    }
    const dist = { tarball: `http://${request.headers.host}/package.tgz`, integrity };
    response.end(JSON.stringify({ 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { dist } } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server.address())}`;
}
