// What a person downloads: archives, packages for Linux, desktop bundles, and what vouches for them.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { bundleOf, dist, packaging, platforms, product, programOf, sourceVersion } from '../product.ts';
import { printed, run } from '../run.ts';
import { folderFor, output, personIn, toolsOver } from './installed.ts';

const version = sourceVersion();
const runsHere = platforms.find(({ os, cpu }) => os === process.platform && cpu === process.arch);
const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
const bundles = path.join(dist, 'mcpb');

test('checksums.txt has every file that is downloaded, and each sum is right', () => {
  const lines = readFileSync(path.join(dist, 'checksums.txt'), 'utf8').trim().split('\n');
  const sums = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  const downloads = [...readdirSync(dist), ...readdirSync(bundles)].filter((name) =>
    /\.(tar\.gz|zip|deb|rpm|mcpb|spdx\.json)$/.test(name),
  );
  assert.equal(downloads.length, 6 + 4 + 6 + 6); // archives, Linux packages, bundles, lists of contents
  assert.deepEqual([...sums.keys()].sort(), downloads.sort());
  for (const [name, sum] of sums) {
    const file = path.join(name.endsWith('.mcpb') ? bundles : dist, name);
    assert.equal(sha256(file), sum, name);
  }
});

test('each list of contents names its archive and the modules in the program', () => {
  for (const { goos, goarch } of platforms) {
    const [name = ''] = readdirSync(dist).filter(
      (f) => f.includes(`${goos}-${goarch}.`) && f.endsWith('.spdx.json'),
    );
    const sbom = JSON.parse(readFileSync(path.join(dist, name), 'utf8'));
    const names: string[] = sbom.packages.map((p: { name: string }) => p.name);
    for (const module of ['github.com/evanw/esbuild', 'modernc.org/sqlite', 'stdlib'])
      assert.ok(names.includes(module), name);
    assert.ok(sbom.documentNamespace.endsWith(sha256(path.join(dist, name.replace('.spdx.json', '')))));
  }
});

test('server.json vouches for the bundles as they are', () => {
  const server = JSON.parse(readFileSync(path.join(dist, 'server.json'), 'utf8'));
  assert.equal(server.name, product.registryName);
  for (const item of server.packages.filter((p: { registryType: string }) => p.registryType === 'mcpb'))
    assert.equal(item.fileSha256, sha256(path.join(bundles, path.basename(item.identifier))));
});

test('manifests of Homebrew, Scoop and winget name archives with their sums', () => {
  const manifests = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^(homebrew|scoop|winget)\/.*(\.rb|tabrelay\.json|\.installer\.yaml)$/.test(name),
  );
  assert.equal(manifests.length, 3, manifests.join(' '));
  for (const name of manifests) {
    const text = readFileSync(path.join(dist, name), 'utf8');
    const sums = [...text.matchAll(/\b[0-9a-fA-F]{64}\b/g)].map(([sum]) => sum.toLowerCase());
    const archives = readdirSync(dist).filter((file) => /\.(tar\.gz|zip)$/.test(file));
    const known = new Set(archives.map((file) => sha256(path.join(dist, file))));
    assert.ok(sums.length >= 2, name);
    for (const sum of sums) assert.ok(known.has(sum), `${name}: ${sum}`);
    assert.match(text, new RegExp(`${product.home}/releases/download/v`));
  }
});

test('the archive has a program that starts alone', {
  skip: !runsHere && 'no archive is for this system',
}, async (t) => {
  assert.ok(runsHere);
  const home = folderFor(t);
  printed('tar', [
    'xzf',
    path.join(dist, `tabrelay-${version}-${runsHere.goos}-${runsHere.goarch}.tar.gz`),
    '-C',
    home,
  ]);
  const program = (...args: string[]) => ({
    command: path.join(home, 'tabrelay'),
    args,
    env: personIn(home),
  });
  assert.equal(await output(program('--version')), `tabrelay ${version}\n`);
  await output(program('up', '--browser', 'none'));
  assert.ok(
    existsSync(path.join(home, '.tabrelay/extension/manifest.json')),
    'the extension is in the program',
  );
  assert.match(await output(program('plugin', 'list')), /wordpress/);
  await output(program('down'));
});

test('the Debian package has the program, its licence and completions', {
  skip: !existsSync('/usr/bin/dpkg-deb') && 'not Debian',
}, async (t) => {
  const root = folderFor(t);
  for (const arch of ['amd64', 'arm64']) {
    const deb = path.join(dist, `tabrelay_${version}_${arch}.deb`);
    assert.equal(
      printed('dpkg-deb', ['--field', deb, 'Package', 'Version', 'Architecture', 'Depends']),
      `Package: tabrelay\nVersion: ${version}\nArchitecture: ${arch}\n`,
    );
    run('dpkg-deb', ['--extract', deb, path.join(root, arch)]);
    const files = readdirSync(path.join(root, arch), { recursive: true, encoding: 'utf8' });
    for (const file of [
      'usr/bin/tabrelay',
      'usr/share/doc/tabrelay/copyright',
      'usr/share/bash-completion/completions/tabrelay',
      'usr/share/zsh/site-functions/_tabrelay',
      'usr/share/fish/vendor_completions.d/tabrelay.fish',
    ])
      assert.ok(files.includes(file), file);
    assert.equal(statSync(path.join(root, arch, 'usr/bin/tabrelay')).mode & 0o7777, 0o755);
  }
});

test('every desktop bundle is valid, and one starts as Claude Desktop starts it', async (t) => {
  const tool = path.join(packaging, 'node_modules/@anthropic-ai/mcpb/dist');
  const home = folderFor(t);
  for (const platform of platforms) {
    const folder = path.join(home, `${platform.goos}-${platform.goarch}`);
    run(process.execPath, [
      path.join(tool, 'cli/cli.js'),
      'unpack',
      path.join(bundles, bundleOf(platform, version)),
      folder,
    ]);
    run(process.execPath, [path.join(tool, 'cli/cli.js'), 'validate', folder]);
    const manifest = JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8'));
    assert.equal(manifest.version, version);
    assert.ok(existsSync(path.join(folder, 'server', programOf(platform))));
  }
  if (!runsHere) return;
  const { getMcpConfigForManifest } = await import(path.join(tool, 'index.js'));
  const folder = path.join(home, `${runsHere.goos}-${runsHere.goarch}`);
  const config = await getMcpConfigForManifest({
    manifest: JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')),
    extensionPath: folder,
    systemDirs: {},
    userConfig: {},
    pathSeparator: path.sep,
  });
  const env = personIn(home);
  const tools = await toolsOver(
    { command: config.command, args: config.args, env },
    { command: config.command, args: ['down'], env },
  );
  assert.ok(tools.includes('browser__snapshot'), tools.join(' '));
});
