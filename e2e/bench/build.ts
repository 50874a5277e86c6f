// What building a plugin costs, and what of it a page has to load. Not a test: nothing fails on a clock.

import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Closing } from '../stage/closing.ts';
import { binary, repository, temporaryFolder } from '../stage/paths.ts';
import { run, start } from '../stage/process.ts';

const tools = 29;
const builds = Number(process.env.ROUNDS ?? 7);

const source = (edit: number): string => {
  const one = (n: number) => `defineTool({
    name: 'tool_${n}', displayName: 'Tool ${n}', description: 'Reads the order with number ${n}.',
    input: z.object({ id: z.string().min(1).describe('Of the order.'), limit: z.number().int().min(1).max(100).default(20), state: z.enum(['open', 'paid', 'sent']).optional() }),
    output: z.object({ title: z.string(), lines: z.array(z.object({ text: z.string(), price: z.number() })) }),
    annotations: { readOnlyHint: true },
    async handle({ id, limit }, ctx) {
      const answer = await fetchJSON<{ lines: { text: string; price: number }[] }>('/orders/' + id + '?limit=' + limit, { signal: ctx.signal });
      return { title: document.title + ' ${n} ${edit}', lines: answer.lines };
    },
  })`;
  return `import { definePlugin, defineTool, fetchJSON } from '@tabrelay/plugin-sdk';
import { z } from 'zod';
export default definePlugin({ tools: [${Array.from({ length: tools }, (_, n) => one(n)).join(',\n')}] });
`;
};

const median = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;

async function cold(folder: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < builds; n++) {
    const began = performance.now();
    await run(binary, ['plugin', 'build', folder]);
    times.push(performance.now() - began);
  }
  return median(times);
}

// From the write of the source to the line that says the new build is there.
async function onChange(folder: string, closing: Closing): Promise<number> {
  const watching = start(binary, ['plugin', 'build', '--watch', folder]);
  closing.defer(() => watching.stop());
  const seen = async (count: number) => {
    while ((watching.output().match(/29 tools/g)?.length ?? 0) < count)
      await new Promise((resolve) => setTimeout(resolve, 1));
  };
  await seen(1);
  const times: number[] = [];
  for (let n = 1; n <= builds; n++) {
    const began = performance.now();
    await writeFile(path.join(folder, 'src/index.ts'), source(n));
    await seen(n + 1);
    times.push(performance.now() - began);
  }
  return median(times);
}

const kilobytes = async (file: string): Promise<string> =>
  `${((await stat(file)).size / 1000).toFixed(1)} KB`;
const row = (what: string, here: string, goal: string) => console.log(what.padEnd(41), here.padEnd(14), goal);

const closing = new Closing();
try {
  const folder = await temporaryFolder('build', closing);
  await mkdir(path.join(folder, 'src'));
  await symlink(path.join(repository, 'node_modules'), path.join(folder, 'node_modules'));
  const manifest = {
    name: 'tabrelay-plugin-orders',
    version: '1.0.0',
    tabrelay: {
      displayName: 'Orders',
      description: 'Orders of a shop.',
      urlPatterns: ['https://shop.example/*'],
    },
  };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(path.join(folder, 'src/index.ts'), source(0));
  row(`PLUGIN OF ${tools} TOOLS WITH ZOD SCHEMAS`, 'HERE', 'GOAL');
  row('build, cold, with the process', `${(await cold(folder)).toFixed(0)} ms`, '150 ms');
  row('build after a change, save to done', `${(await onChange(folder, closing)).toFixed(0)} ms`, '50 ms');
  row('its adapter in the page', await kilobytes(path.join(folder, 'dist/adapter.js')), '60 KB');
  const shipped = path.join(repository, 'adapters/dist');
  for (const entry of await readdir(shipped, { withFileTypes: true }))
    if (entry.isDirectory())
      row(
        `${entry.name}, in the page`,
        await kilobytes(path.join(shipped, entry.name, 'adapter.js')),
        '60 KB',
      );
} finally {
  await closing.close();
}
