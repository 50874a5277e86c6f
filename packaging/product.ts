// What every package says about tabrelay, and for which systems there are packages.

import { readFileSync } from 'node:fs';
import path from 'node:path';

export const repository = path.resolve(import.meta.dirname, '..');
export const packaging = path.join(repository, 'packaging');
/** Everything that is released. GoReleaser empties it first. */
export const dist = path.join(packaging, 'dist');

export const product = {
  name: 'tabrelay',
  title: 'tabrelay',
  description: 'Let AI agents use the web applications you are signed in to',
  author: 'The tabrelay authors',
  license: 'MIT',
  home: 'https://github.com/tabrelay/tabrelay',
  /** In the MCP registry; the owner of the repository proves it. */
  registryName: 'io.github.tabrelay/tabrelay',
  keywords: ['mcp', 'browser', 'agent', 'chrome', 'automation'],
};

/** A system that has packages, in the words of Go and of Node. */
export interface Platform {
  goos: string;
  goarch: string;
  os: 'linux' | 'darwin' | 'win32';
  cpu: 'x64' | 'arm64';
}

export const platforms: readonly Platform[] = [
  { goos: 'linux', goarch: 'amd64', os: 'linux', cpu: 'x64' },
  { goos: 'linux', goarch: 'arm64', os: 'linux', cpu: 'arm64' },
  { goos: 'darwin', goarch: 'amd64', os: 'darwin', cpu: 'x64' },
  { goos: 'darwin', goarch: 'arm64', os: 'darwin', cpu: 'arm64' },
  { goos: 'windows', goarch: 'amd64', os: 'win32', cpu: 'x64' },
  { goos: 'windows', goarch: 'arm64', os: 'win32', cpu: 'arm64' },
];

export const programOf = (platform: Platform): string =>
  platform.os === 'win32' ? 'tabrelay.exe' : 'tabrelay';
export const npmNameOf = (platform: Platform): string => `@tabrelay/${platform.os}-${platform.cpu}`;
export const bundleOf = (platform: Platform, version: string): string =>
  `tabrelay-${version}-${platform.goos}-${platform.goarch}.mcpb`;

/** The version of the sources: a release is tagged v and this. */
export function sourceVersion(): string {
  const [, version] = /^var Version = "(.+)"$/m.exec(read('relay/relay.go')) ?? [];
  if (!version) throw new Error('relay/relay.go has no Version');
  return version;
}

/** Where else the version stands, with what stands there. */
export const versionsElsewhere = (): Record<string, unknown> =>
  Object.fromEntries(
    [
      'extension/manifest.json',
      'plugin-sdk/package.json',
      'packaging/claude-code/.claude-plugin/plugin.json',
    ].map((file) => [file, JSON.parse(read(file)).version]),
  );

/** The section of CHANGELOG.md about a version, without its heading: `## 0.2.0 (2026-12-01)`. */
export function releaseNotes(version: string): string {
  const sections = read('CHANGELOG.md').split(/^## /m).slice(1);
  const section = sections.find((text) =>
    firstLine(text)
      .split(/[ ()]+/)
      .includes(version),
  );
  if (!section) throw new Error(`CHANGELOG.md has no section about ${version}; its heading is to name it`);
  return section.slice(firstLine(section).length).trim();
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

const read = (file: string): string => readFileSync(path.join(repository, file), 'utf8');
