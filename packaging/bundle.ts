// Makes the desktop bundle of one system: `bundle.ts GOOS GOARCH PROGRAM`. A person opens the file with Claude Desktop,
// which unpacks it and starts the program.

import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  bundleOf,
  dist,
  type Platform,
  packaging,
  platforms,
  product,
  programOf,
  repository,
  sourceVersion,
} from './product.ts';
import { run } from './run.ts';

const packer = path.join(packaging, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js');

const [goos, goarch, program = ''] = process.argv.slice(2);
const platform = platforms.find((p) => p.goos === goos && p.goarch === goarch);
if (!platform) throw new Error(`there are no packages for ${goos}/${goarch}`);
const version = sourceVersion();
const folder = mkdtempSync(path.join(tmpdir(), 'tabrelay-bundle-'));
try {
  place(path.join(repository, 'extension/icons/128.png'), path.join(folder, 'icon.png'), 0o644);
  place(path.join(repository, 'LICENSE'), path.join(folder, 'LICENSE'), 0o644);
  place(program, path.join(folder, 'server', programOf(platform)), 0o755);
  const manifest = path.join(folder, 'manifest.json');
  writeFileSync(manifest, `${JSON.stringify(manifestOf(platform), null, 2)}\n`);
  chmodSync(manifest, 0o644);
  const file = path.join(dist, 'mcpb', bundleOf(platform, version));
  run(
    process.execPath,
    ['--import', 'tsx', '--import', './packaging/clock.ts', packer, 'pack', folder, file],
    {
      cwd: repository,
    },
  );
} finally {
  rmSync(folder, { recursive: true });
}

/** Copies a file with these permissions, whatever the umask is: they are part of the bundle. */
function place(from: string, to: string, mode: number): void {
  mkdirSync(path.dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

function manifestOf(platform: Platform) {
  return {
    manifest_version: '0.3',
    name: product.name,
    display_name: product.title,
    version,
    description: product.description,
    long_description:
      'An agent calls a tool, the tool runs in the page, in your own browser, with your own session. You are asked ' +
      'before it reads a site and before it changes anything. The first start prepares the browser extension; ' +
      'the server says where it is and how to load it.',
    author: { name: product.author },
    repository: { type: 'git', url: `${product.home}.git` },
    homepage: product.home,
    support: `${product.home}/issues`,
    icon: 'icon.png',
    server: {
      type: 'binary',
      entry_point: `server/${programOf(platform)}`,
      mcp_config: {
        command: `\${__dirname}/server/${programOf(platform)}`,
        // One argument: a client that puts values in leaves an argument alone whose whole value is empty.
        args: ['mcp', '--client', 'claude-desktop', `--toolset=\${user_config.toolset}`],
      },
    },
    tools_generated: true,
    prompts_generated: true,
    user_config: {
      toolset: {
        type: 'string',
        title: 'Tools to list',
        description:
          'Empty: the tools of the browser and of the sites that are open. gateway: three tools that find all ' +
          'others. all: every tool. Or names of plugins, with commas between.',
        default: '',
        required: false,
      },
    },
    keywords: product.keywords,
    license: product.license,
    compatibility: { platforms: [platform.os] },
  };
}
