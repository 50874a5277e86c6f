// server.json: how clients find tabrelay in the MCP registry.

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleOf, dist, packaging, platforms, product } from './product.ts';
import { printed, run } from './run.ts';
import { registry } from './tools.ts';

const serverFile = path.join(dist, 'server.json');

export function writeServer(version: string): void {
  const server = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: product.registryName,
    title: product.title,
    description: product.description,
    repository: { url: product.home, source: 'github' },
    version,
    packages: [
      npmPackage(version),
      ...platforms.map((platform) => bundle(bundleOf(platform, version), version)),
    ],
  };
  writeFileSync(serverFile, `${JSON.stringify(server, null, 2)}\n`);
}

const npmPackage = (version: string) => ({
  registryType: 'npm',
  registryBaseUrl: 'https://registry.npmjs.org',
  identifier: product.name,
  version,
  runtimeHint: 'npx',
  transport: { type: 'stdio' },
  packageArguments: [{ type: 'positional', value: 'mcp' }],
});

const bundle = (file: string, version: string) => ({
  registryType: 'mcpb',
  identifier: `${product.home}/releases/download/v${version}/${file}`,
  version,
  fileSha256: createHash('sha256')
    .update(readFileSync(path.join(dist, 'mcpb', file)))
    .digest('hex'),
  transport: { type: 'stdio' },
});

/**
 * Has the registry's own code judge server.json. Its publisher would ask the registry on the web; the check itself can be
 * imported by programs of its module only, so ours is laid over a folder of that module.
 */
export function validateServer(): void {
  const { Dir: module } = JSON.parse(
    printed('go', ['mod', 'download', '-json', registry], { cwd: tmpdir() }),
  );
  const folder = mkdtempSync(path.join(tmpdir(), 'tabrelay-registry-'));
  try {
    const program = path.join(module, 'cmd/tabrelay-validate/main.go');
    const overlay = path.join(folder, 'overlay.json');
    writeFileSync(overlay, JSON.stringify({ Replace: { [program]: path.join(packaging, 'validate.go') } }));
    run('go', ['run', '-overlay', overlay, './cmd/tabrelay-validate', serverFile], { cwd: module });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
