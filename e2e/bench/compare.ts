// The comparison of a release: errands and looks with tabrelay's browser tools and with those of others, on this
// machine, now. Writes what was measured to errands/comparison.json, and from that the tables of
// docs/browser-comparison.md.
//
//   node --import tsx e2e/bench/compare.ts            measures everything once, and writes both
//   node --import tsx e2e/bench/compare.ts --runs 3   the medians of three
//   … --only Roundcube,order --servers agent-browser        measures some anew, and leaves the others as they were
//   … --render                                        writes the page only

import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { Closing } from '../stage/closing.ts';
import { binary, browser, repository } from '../stage/paths.ts';
import {
  type Comparison,
  compared,
  measurements,
  page,
  readMeasurements,
  rendered,
  ways,
} from './errands/comparison.ts';
import type { Errand } from './errands/errand.ts';
import { listedTokens, peers, type Server } from './errands/ground.ts';
import { inApplications } from './errands/in-applications.ts';
import { inLoops } from './errands/in-loops.ts';
import { lookedAt, measure } from './errands/looks.ts';
import { onPages } from './errands/on-pages.ts';
import { requirePeers, run } from './errands/run.ts';
import type { Run } from './errands/table.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    servers: { type: 'string', default: [...compared, ...ways].join(',') },
    render: { type: 'boolean' },
  },
});

const times = Number(values.runs);

const told = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: repository, encoding: 'utf8' }).trim();

async function versionOf(server: Server): Promise<string> {
  const folders: Partial<Record<Server, string>> = {
    ...{ playwright: '@playwright/mcp', code: '@playwright/mcp' },
    ...{ devtools: 'chrome-devtools-mcp', 'agent-browser': 'agent-browser' },
  };
  const folder = folders[server];
  if (folder === undefined) return told(binary, '--version').replace('tabrelay ', '');
  const file = path.join(peers, folder, 'package.json');
  return z.object({ version: z.string() }).parse(JSON.parse(await readFile(file, 'utf8'))).version;
}

const commit = told('git', 'rev-parse', '--short', 'HEAD');

const now = (): Comparison['errands'][number]['measured'] => ({
  date: new Date().toISOString().slice(0, 10),
  commit,
  load: Math.round(loadavg()[0] ?? 0),
});

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? 0;

/** Several runs of one errand in one: the medians of those that were done, or of all where none was. */
function together(
  errand: string,
  server: Server,
  runs: readonly Run[],
): Omit<Comparison['errands'][number], 'measured'> {
  const done = runs.filter(({ success }) => success);
  const counted = done.length > 0 ? done : runs;
  const of = (what: 'calls' | 'tokens' | 'ms') => Math.round(median(counted.map((one) => one[what])));
  const why = runs.find(({ success }) => !success)?.why;
  return {
    errand,
    server,
    runs: runs.length,
    done: done.length,
    ...{ calls: of('calls'), tokens: of('tokens'), ms: of('ms') },
    ...(why !== undefined && { why: why.split('\n')[0]?.slice(0, 200) }),
  };
}

async function listed(server: Server): Promise<number> {
  const closing = new Closing();
  try {
    return await listedTokens(server, closing);
  } finally {
    await closing.close();
  }
}

// Written after each, so that a run that is stopped has left what it measured; the others stay as they were.
async function keep(measured: Comparison): Promise<void> {
  await writeFile(measurements, `${JSON.stringify(measured, null, 1)}\n`);
}

/** In the place of what was there before, or behind the others. */
function put<T>(all: T[], one: T, same: (other: T) => boolean): void {
  const at = all.findIndex(same);
  all.splice(at < 0 ? all.length : at, 1, one);
}

const machine = (): Comparison['machine'] => ({
  system: `${type()} ${release()}`,
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGB: Math.round(totalmem() / 2 ** 30),
  chromium: /Chromium \S+/.exec(told(browser, '--version'))?.[0] ?? 'Chromium',
  node: process.version,
});

const chosen = ({ name }: { name: string }): boolean =>
  values.only.split(',').some((word) => name.includes(word));

/** What is known of a server before an errand; what its agent reads first is known once it did one. */
async function describe(all: Comparison, server: Server): Promise<void> {
  const isWay = ways.some((way) => way === server);
  const about = {
    server,
    version: await versionOf(server),
    ...(!isWay && { toolsList: await listed(server) }),
    instructions: all.servers.find((one) => one.server === server)?.instructions ?? 0,
  };
  put(all.servers, about, (other) => other.server === server);
}

async function measureErrand(
  all: Comparison,
  kind: 'errands' | 'loops',
  errand: Errand,
  server: Server,
): Promise<void> {
  const measured = now();
  const runs: Run[] = [];
  for (let n = 0; n < times; n++) runs.push(await run(errand, server));
  const begun = runs.filter((one) => one.begun); // where nobody could sign in, nothing was measured
  if (begun.length === 0) return;
  const one = { ...together(errand.name, server, begun), measured };
  put(all[kind], one, (other) => other.errand === one.errand && other.server === server);
  const about = all.servers.find((two) => two.server === server);
  if (about !== undefined) about.instructions = begun[0]?.known ?? about.instructions;
  await keep(all);
  console.log(
    `${server}, ${errand.name}: ${one.done} of ${one.runs}, ${one.calls} / ${one.tokens} / ${one.ms} ms`,
  );
}

async function measureLook(all: Comparison, looked: (typeof lookedAt)[number], server: Server) {
  const measured = now();
  const taken: number[][] = [];
  for (let n = 0; n < times; n++) taken.push(await measure(looked, server));
  const tokens = [0, 1, 2, 3].map((i) => median(taken.map((one) => one[i] ?? 0)));
  const one = { page: looked.name, server, tokens, measured };
  put(all.looks, one, (other) => other.page === looked.name && other.server === server);
  await keep(all);
  console.log(`${server}, ${looked.name}: ${tokens.join(' / ')}`);
}

async function measureAll(wanted: readonly Server[]): Promise<void> {
  requirePeers(wanted);
  const all = await readMeasurements();
  all.machine = machine();
  for (const server of wanted) await describe(all, server);
  const inErrands = wanted.filter((server) => server !== 'code'); // there is code for the loops alone
  for (const errand of [...inApplications, ...onPages].filter(chosen))
    for (const server of inErrands) await measureErrand(all, 'errands', errand, server);
  for (const errand of inLoops.filter(chosen))
    for (const server of wanted) await measureErrand(all, 'loops', errand, server);
  for (const looked of lookedAt.filter(chosen))
    for (const server of compared) if (wanted.includes(server)) await measureLook(all, looked, server);
}

if (values.render !== true) {
  const wanted = values.servers.split(',');
  await measureAll([...compared, ...ways].filter((server) => wanted.includes(server)));
}
await writeFile(page, rendered(await readFile(page, 'utf8'), await readMeasurements()));
