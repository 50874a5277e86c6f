// Packs for npm what GoReleaser has built: `tabrelay`, a package with the program for each system, and the SDK for
// plugins.

import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  dist,
  npmNameOf,
  type Platform,
  packaging,
  platforms,
  product,
  programOf,
  repository,
} from './product.ts';
import { printed, run } from './run.ts';

const packages = path.join(dist, 'npm');

/** Writes the packages of a version into dist/npm. */
export function packForNpm(version: string): void {
  rmSync(packages, { recursive: true, force: true });
  const built = builtPrograms();
  for (const platform of platforms) packPlatform(platform, version, built(platform));
  packTabrelay(version);
  pack(path.join(repository, 'plugin-sdk'));
}

function packPlatform(platform: Platform, version: string, program: string): void {
  const folder = open(npmNameOf(platform), {
    version,
    description: `The program of tabrelay for ${platform.os} on ${platform.cpu}`,
    preferUnplugged: true, // it is started, so it is to be a file
    os: [platform.os],
    cpu: [platform.cpu],
  });
  place(program, path.join(folder, 'bin', programOf(platform)), 0o755);
  pack(folder);
  rmSync(folder, { recursive: true });
}

function packTabrelay(version: string): void {
  const folder = open(product.name, {
    version,
    description: product.description,
    keywords: product.keywords,
    mcpName: product.registryName,
    engines: { node: '>=18' },
    bin: { tabrelay: 'bin/tabrelay.js' },
    optionalDependencies: Object.fromEntries(platforms.map((platform) => [npmNameOf(platform), version])),
  });
  for (const [file, mode] of [
    ['bin/tabrelay.js', 0o755],
    ['README.md', 0o644],
  ] as const)
    place(path.join(packaging, 'npm', file), path.join(folder, file), mode);
  pack(folder);
  rmSync(folder, { recursive: true });
}

/** Makes the folder of a package, which is removed once it is packed. */
function open(name: string, fields: object): string {
  const folder = path.join(packages, 'package');
  mkdirSync(folder, { recursive: true });
  const manifest = {
    name,
    ...fields,
    license: product.license,
    homepage: product.home,
    repository: { type: 'git', url: `git+${product.home}.git` },
    bugs: `${product.home}/issues`,
    files: ['bin'],
  };
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  place(path.join(repository, 'LICENSE'), path.join(folder, 'LICENSE'), 0o644);
  return folder;
}

function place(from: string, to: string, mode: number): void {
  mkdirSync(path.dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

/** Packs a folder. npm takes over the files' permissions, which are made those that Git would give, whatever umask is. */
function pack(folder: string): void {
  const [{ files }]: [{ files: { path: string; mode: number }[] }] = JSON.parse(
    printed('npm', ['pack', '--dry-run', '--json', '--silent'], { cwd: folder }),
  );
  for (const file of files) chmodSync(path.join(folder, file.path), file.mode & 0o100 ? 0o755 : 0o644);
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', packages], { cwd: folder });
}

/** Where GoReleaser has put the program of a system. */
function builtPrograms(): (platform: Platform) => string {
  const artifacts: { type: string; path: string; goos?: string; goarch?: string }[] = JSON.parse(
    readFileSync(path.join(dist, 'artifacts.json'), 'utf8'),
  );
  return ({ goos, goarch }) => {
    const found = artifacts.find((a) => a.type === 'Binary' && a.goos === goos && a.goarch === goarch);
    if (!found) throw new Error(`GoReleaser has built no program for ${goos}/${goarch}`);
    return path.resolve(repository, found.path);
  };
}
