// The npm packages, installed from a registry on this machine by an npm that runs no scripts, under each Node that is
// promised. Afterwards the registry is gone: what was installed is all there is.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { dist, packaging, platforms, sourceVersion } from '../product.ts';
import { printed } from '../run.ts';
import { folderFor, type Installed, output, personIn, toolsOver } from './installed.ts';
import { serve, tarballs } from './npm-registry.ts';

const version = sourceVersion();
const modules = path.join(packaging, 'node_modules');
const here = process.platform === 'linux' && process.arch === 'x64';

for (const node of ['node-18', 'node-20', 'node-22'])
  test(`npx starts tabrelay under ${node}`, {
    skip: !here && 'the Nodes of packaging/package.json are for Linux on x64',
  }, async (t) => {
    const home = folderFor(t);
    const registry = await serve(t);
    const nodes = path.join(modules, node, 'bin');
    const npx = (...more: string[]): Installed => ({
      command: path.join(nodes, 'node'),
      args: [path.join(modules, 'npm/bin/npx-cli.js'), '-y', ...more],
      env: {
        ...personIn(home, `${nodes}:/usr/bin:/bin`),
        npm_config_registry: registry.address,
        npm_config_ignore_scripts: 'true',
        npm_config_update_notifier: 'false',
      },
    });
    assert.equal(await output(npx('tabrelay', '--version')), `tabrelay ${version}\n`);
    const [cached = ''] = readdirSync(path.join(home, '.npm/_npx'));
    assert.deepEqual(readdirSync(path.join(home, '.npm/_npx', cached, 'node_modules/@tabrelay')), [
      'linux-x64',
    ]);

    registry.close();
    const tools = await toolsOver(npx('--offline', 'tabrelay', 'mcp'), npx('--offline', 'tabrelay', 'down'));
    assert.ok(tools.includes('browser__snapshot'), tools.join(' '));
  });

test('every package has the version, and the program is the one in the archives', () => {
  const files = tarballs();
  assert.equal(files.size, platforms.length + 2);
  for (const [name, { manifest }] of files) assert.equal(manifest.version, version, name);
  const main = files.get('tabrelay')?.manifest;
  assert.deepEqual(
    Object.keys(main?.optionalDependencies ?? {}).sort(),
    [...files.keys()].filter((name) => name !== 'tabrelay' && name !== '@tabrelay/plugin-sdk').sort(),
  );
  const archive = path.join(dist, `tabrelay-${version}-linux-amd64.tar.gz`);
  const fromNpm = files.get('@tabrelay/linux-x64');
  assert.ok(fromNpm);
  assert.equal(digest(archive, 'tabrelay'), digest(fromNpm.file, 'package/bin/tabrelay'));
});

test('an installation without the program, or on another system, says what to do', async (t) => {
  const home = folderFor(t);
  const main = tarballs().get('tabrelay');
  assert.ok(main);
  printed('tar', ['xzf', main.file, '-C', home]);
  const launcher = path.join(home, 'package/bin/tabrelay.js');
  const tell = (platform: string): Promise<string> => {
    const script = [
      `Object.defineProperty(process, 'platform', { value: '${platform}' });`,
      `process.on('exit', () => { process.exitCode = 0; });`,
      'console.error = console.log;',
      `process.argv.splice(1, 0, '${launcher}');`,
      `require('${launcher}');`,
    ].join('\n');
    return output({
      command: 'sh',
      args: ['-c', '"$0" -e "$1" || true', process.execPath, script],
      env: personIn(home),
    });
  };
  assert.match(
    await tell('linux'),
    /^error: the package @tabrelay\/linux-\w+, which has the program, is not installed\nhint: /,
  );
  assert.match(
    await tell('aix'),
    /^error: there is no tabrelay for aix on \w+\nhint: the systems are: @tabrelay\/linux-x64, /,
  );
});

function digest(archive: string, member: string): string {
  const script = 'tar xzOf "$0" "$1" | sha256sum';
  return printed('sh', ['-c', script, archive, member]);
}
