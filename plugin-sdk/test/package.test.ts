// The npm package as its users get it: packed, installed into a folder outside of this repository, and used there by
// the compiler, by Node and by a bundler.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);
const sdk = fileURLToPath(new URL('..', import.meta.url));
const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const parts = ['', '/editing', '/html', '/json', '/paging', '/pre-script', '/schema'];
const installed = 'node_modules/@tabrelay/plugin-sdk';

const plugin = `
import { definePlugin, defineTool, fetchJSON, ToolError, withFreshToken } from '@tabrelay/plugin-sdk';
import { htmlToText } from '@tabrelay/plugin-sdk/html';
import { jsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';

const list = defineTool({
  name: 'list_teas',
  description: 'The teas of the shop.',
  input: s.parameters({ kind: s.optional(s.choice(['green', 'black'])), ...pagingInput }),
  output: s.object({ teas: s.array(s.string()), ...pagingOutput }),
  async handle({ kind, limit, offset }, { signal, maxBytes }) {
    const wanted: 'green' | 'black' | undefined = kind;
    if (wanted === 'black') throw ToolError.notFound('There is none.');
    const answer = jsonReader(await withFreshToken({ get: async () => 'proof' }, () => fetchJSON('/teas', { signal })));
    const names = answer.list().map((tea) => htmlToText(tea.string('name')));
    return listPage(names, { limit, offset, maxBytes }, (teas, paging) => ({ teas, ...paging }));
  },
});

// @ts-expect-error a tool has a description
defineTool({ name: 'nameless', handle: async () => ({}) });

export default definePlugin({ tools: [list] });
`;

let folder = '';

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sdk-package-'));
  await mkdir(join(folder, 'src'));
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'tea', type: 'module', private: true }),
  );
  await writeFile(join(folder, 'src/index.ts'), plugin);
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: sdk });
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  assert.ok(tarball);
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], { cwd: folder });
});

after(() => rm(folder, { recursive: true, force: true }));

test('the package holds what was built, and neither tests nor Go', async () => {
  const names = await readdir(join(folder, installed), { recursive: true });
  const files = names.filter((name) => /\.\w+$/.test(name)).sort();
  for (const expected of [
    'README.md',
    'package.json',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/json-schema.js',
  ]) {
    assert.ok(files.includes(expected), `${expected} is in the package`);
  }
  assert.deepEqual(
    files.filter((name) => !/^(dist\/[\w.-]+\.(js|d\.ts)|README\.md|package\.json)$/.test(name)),
    [],
  );
});

for (const [module, resolution] of [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
] as const) {
  test(`a plugin compiles against it with moduleResolution ${resolution}`, async () => {
    const config = join(folder, `tsconfig.${resolution}.json`);
    const options = {
      module,
      moduleResolution: resolution,
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      outDir: `built-${resolution}`,
      rootDir: 'src',
    };
    await writeFile(config, JSON.stringify({ compilerOptions: options, include: ['src'] }));
    const { stdout } = await run(process.execPath, [compiler, '-p', config], { cwd: folder }).catch((e) => e);
    assert.equal(stdout, '');
    const code = await readFile(join(folder, `built-${resolution}/index.js`), 'utf8');
    assert.match(code, /from '@tabrelay\/plugin-sdk\/html'/);
  });
}

test('Node imports every part, and a plugin that was compiled', async () => {
  const script = `
    for (const part of ${JSON.stringify(parts)}) {
      const names = Object.keys(await import('@tabrelay/plugin-sdk' + part));
      if (names.length === 0) throw new Error(part + ' exports nothing');
    }
    const { ToolError } = await import('@tabrelay/plugin-sdk');
    const { default: plugin } = await import('./built-nodenext/index.js');
    const error = ToolError.rateLimited('Wait', 20);
    console.log(JSON.stringify([plugin.tools[0].name, error.code, error.retryable, error.retryAfterMs]));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
  assert.deepEqual(JSON.parse(stdout), ['list_teas', 'RATE_LIMITED', true, 20]);
});

test('a bundler takes what a plugin uses, and leaves out the rest', async () => {
  const entry = join(folder, 'small.js');
  await writeFile(
    entry,
    "import { ToolError } from '@tabrelay/plugin-sdk';\nconsole.log(ToolError.auth('Sign in').code);\n",
  );
  const options = {
    absWorkingDir: folder,
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'silent',
  } as const;
  const whole = await build({ ...options, entryPoints: ['src/index.ts'] });
  const small = await build({ ...options, entryPoints: ['small.js'] });
  assert.match(whole.outputFiles[0]?.text ?? '', /list_teas/);
  const code = small.outputFiles[0]?.text ?? '';
  assert.match(code, /AUTH_ERROR/);
  assert.doesNotMatch(code, /fetchJSON|DOMParser/);
});
