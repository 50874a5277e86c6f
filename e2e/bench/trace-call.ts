// Which functions of the program one call over stdio executes: how long the road is that somebody has to follow. It
// counts by coverage: a block that runs a thousand times more often when a thousand more calls are made belongs to the
// way of a call. Both processes count, the relay and the `tabrelay mcp` before it; the browser is a real one.
//
//   make trace              prints functions, files and packages of a successful, a failing and a refused call
//   make trace LIST=1       prints the functions too

import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Closing } from '../stage/closing.ts';
import { repository, temporaryFolder } from '../stage/paths.ts';
import { run } from '../stage/process.ts';

const few = 100;
const many = 1100;

interface Scenario {
  name: string;
  tool: string;
  args: Record<string, unknown>;
  failing: boolean;
  permissions: unknown;
}

const scenarios: readonly Scenario[] = [
  { name: 'successful', tool: 'demo__hello', args: {}, failing: false, permissions: { default: 'auto' } },
  {
    name: 'failing',
    tool: 'demo__get_page',
    args: { slug: 'no-such-page' },
    failing: true,
    permissions: { default: 'auto' },
  },
  {
    name: 'refused',
    tool: 'demo__list_pages',
    args: {},
    failing: true,
    permissions: { demo__list_pages: 'off' },
  },
];

const go = async (...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)('go', args, { cwd: repository, maxBuffer: 1 << 28 });
  return stdout;
};

interface Counted {
  /** By block, how often it ran. */
  runs: Map<string, number>;
  /** From the first call to the end of the last, in ms. */
  took: number;
}

const closing = new Closing();
const folder = await temporaryFolder('trace', closing);
const binary = path.join(folder, 'tabrelay');

/** How often each block ran while a scenario's tool was called so many times, in no less time than `atLeast` (ms). */
async function count(scenario: Scenario, calls: number, atLeast = 0): Promise<Counted> {
  const at = path.join(folder, `${scenario.name}-${calls}`);
  const [home, counters] = [path.join(at, 'home'), path.join(at, 'counters')];
  await mkdir(home, { recursive: true, mode: 0o700 });
  await mkdir(counters);
  await writeFile(path.join(home, 'config.json'), JSON.stringify({ permissions: scenario.permissions }));
  const env = {
    TABRELAY_HOME: home,
    TABRELAY_LISTEN: '127.0.0.1:0',
    TABRELAY_DEMO_LISTEN: '127.0.0.1:0',
    GOCOVERDIR: counters,
  };
  await run(binary, ['up', '--browser', 'managed'], env);
  let took: number;
  try {
    const client = new Client({ name: 'trace', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({ command: binary, args: ['mcp'], env, stderr: 'inherit' }),
    );
    const began = performance.now();
    for (let n = 0; n < calls; n++) {
      const answer = await client.callTool({ name: scenario.tool, arguments: scenario.args });
      if ((answer.isError ?? false) !== scenario.failing)
        throw new Error(`${scenario.name}: ${JSON.stringify(answer)}`);
    }
    took = performance.now() - began;
    await setTimeout(Math.max(0, atLeast - took));
    await client.close();
  } finally {
    await run(binary, ['down'], env);
  }
  const profile = path.join(at, 'profile');
  await go('tool', 'covdata', 'textfmt', `-i=${counters}`, `-o=${profile}`);
  return { runs: await read(profile), took };
}

async function read(profile: string): Promise<Map<string, number>> {
  const blocks = new Map<string, number>();
  for (const line of (await readFile(profile, 'utf8')).split('\n')) {
    const block = /^(\S+:\S+) \d+ (\d+)$/.exec(line);
    if (block?.[1] && block[2]) blocks.set(block[1], (blocks.get(block[1]) ?? 0) + Number(block[2]));
  }
  return blocks;
}

/** The functions on the way of a scenario's call, as `file:line: name`. */
async function trace(scenario: Scenario): Promise<string[]> {
  const after = await count(scenario, many);
  const before = await count(scenario, few, after.took); // what the relay does by itself takes place in both
  const onTheWay = [...after.runs].filter(
    ([block, runs]) => runs - (before.runs.get(block) ?? 0) >= (many - few) * 0.9,
  );
  const profile = path.join(folder, `${scenario.name}.profile`);
  await writeFile(profile, `mode: set\n${onTheWay.map(([block]) => `${block} 1 1`).join('\n')}\n`);
  const table = await go('tool', 'cover', `-func=${profile}`);
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([place, , percent]) => place !== 'total:' && percent !== undefined && percent !== '0.0%')
    .map(([place, name]) => `${place} ${name}`);
}

const distinct = (lines: readonly string[], part: (file: string) => string): number =>
  new Set(lines.map((line) => part(line.split(':')[0] ?? ''))).size;

try {
  await go('build', '-cover', '-covermode=atomic', '-coverpkg=tabrelay/...', '-o', binary, './cmd/tabrelay');
  console.log('ONE CALL OVER STDIO   FUNCTIONS   FILES   PACKAGES');
  for (const scenario of scenarios) {
    const lines = await trace(scenario);
    const [files, packages] = [distinct(lines, (file) => file), distinct(lines, path.dirname)];
    console.log(
      `${scenario.name.padEnd(21)} ${String(lines.length).padEnd(11)} ${String(files).padEnd(7)} ${packages}`,
    );
    if (process.env.LIST) console.log(lines.join('\n'));
  }
} finally {
  await closing.close();
}
