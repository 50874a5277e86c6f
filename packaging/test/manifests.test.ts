// What the committed manifests say is what the product says. Quick: nothing is built.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import {
  bundleOf,
  npmNameOf,
  platforms,
  product,
  releaseNotes,
  repository,
  sourceVersion,
  versionsElsewhere,
} from '../product.ts';

const version = sourceVersion();
const read = (file: string): string => readFileSync(path.join(repository, file), 'utf8');
const goreleaser = read('.goreleaser.yaml');

test('everything that names its version names that of the sources', () => {
  const elsewhere = versionsElsewhere();
  assert.ok(Object.keys(elsewhere).length > 0);
  for (const [file, said] of Object.entries(elsewhere)) assert.equal(said, version, file);
});

test('GoReleaser builds for the systems that have packages, and for no others', () => {
  const list = (key: string): string[] =>
    (new RegExp(`^ +${key}: \\[(.+)\\]$`, 'm').exec(goreleaser)?.[1] ?? '').split(', ').sort();
  const built = list('goos').flatMap((goos) => list('goarch').map((goarch) => `${goos}/${goarch}`));
  assert.deepEqual(built, platforms.map(({ goos, goarch }) => `${goos}/${goarch}`).sort());
});

test('no two systems share a package', () => {
  for (const names of [platforms.map(npmNameOf), platforms.map((platform) => bundleOf(platform, version))])
    assert.equal(new Set(names).size, platforms.length);
});

test('every address in GoReleaser, the plugin for Claude Code and .github is one of the project', () => {
  const files = [
    '.goreleaser.yaml',
    'packaging/claude-code/.claude-plugin/plugin.json',
    'packaging/npm/README.md',
  ].concat(
    readdirSync(path.join(repository, '.github/ISSUE_TEMPLATE')).map(
      (file) => `.github/ISSUE_TEMPLATE/${file}`,
    ),
  );
  const addresses = files.flatMap((file) => read(file).match(/https:\/\/github\.com\/[^\s"')]+/g) ?? []);
  assert.ok(addresses.length > 5);
  for (const address of addresses)
    assert.ok(
      `${product.home}/`.startsWith(`${address}/`) || address.startsWith(`${product.home}/`),
      address,
    );
});

test('the release notes are the section of CHANGELOG.md, without its heading', () => {
  const notes = releaseNotes(version);
  assert.doesNotMatch(notes, /^## /m);
  assert.match(notes, /^### /m);
  assert.throws(() => releaseNotes('99.0.0'), /no section about 99\.0\.0/);
});

test('actions of the workflows are named by the hash of a commit, and jobs get rights one by one', () => {
  for (const file of readdirSync(path.join(repository, '.github/workflows'))) {
    const text = read(`.github/workflows/${file}`);
    for (const [line] of text.matchAll(/^.*\buses:.*$/gm))
      assert.match(line, /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, file);
    assert.match(text, /^permissions: \{\}$/m, file);
  }
});

test('the MCP registry finds its limits kept', () => {
  assert.ok(product.description.length <= 100);
  assert.match(product.registryName, /^io\.github\.[a-z0-9-]+\/[a-z0-9-]+$/);
});

test('a client starts tabrelay as the README of the npm package says', () => {
  const [, entry = ''] = /```json\n(.*?)\n```/s.exec(read('packaging/npm/README.md')) ?? [];
  assert.deepEqual(JSON.parse(entry).mcpServers.tabrelay, {
    command: 'npx',
    args: ['-y', 'tabrelay', 'mcp'],
  });
});
