// The comparison of a release: errands and looks with tabrelay's browser tools and with those of others, on this machine,
// now. Writes what was measured to errands/comparison.json, and the tables of docs/browser-comparison.md from that.
//
//   node --import tsx e2e/bench/compare.ts            measures everything once, and writes both
//   node --import tsx e2e/bench/compare.ts --runs 3   the medians of three
//   node --import tsx e2e/bench/compare.ts --render   writes the page only

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
  type ServerName,
} from './errands/comparison.ts';
import { listedTokens, peers } from './errands/ground.ts';
import { inApplications } from './errands/in-applications.ts';
import { lookedAt, measure } from './errands/looks.ts';
import { onPages } from './errands/on-pages.ts';
import { requirePeers, run } from './errands/run.ts';
import type { Run } from './errands/table.ts';

const { values } = parseArgs({ options: { runs: { type: 'string' }, render: { type: 'boolean' } } });

const told = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: repository, encoding: 'utf8' }).trim();

async function versionOf(server: ServerName): Promise<string> {
  if (server === 'tabrelay') return told(binary, '--version').replace('tabrelay ', '');
  const folders = { playwright: '@playwright/mcp', devtools: 'chrome-devtools-mcp', 'agent-browser': server };
  const file = path.join(peers, folders[server], 'package.json');
  return z.object({ version: z.string() }).parse(JSON.parse(await readFile(file, 'utf8'))).version;
}

const load = (): number[] => loadavg().map((one) => Math.round(10 * one) / 10);

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? 0;

/** Several runs of one errand in one: the medians of those that were done, or of all where none was. */
function together(errand: string, server: ServerName, runs: readonly Run[]): Comparison['errands'][number] {
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

async function listed(server: ServerName): Promise<number> {
  const closing = new Closing();
  try {
    return await listedTokens(server, closing);
  } finally {
    await closing.close();
  }
}

// Written after each, so that a run that is stopped has left what it measured.
async function keep(measured: Comparison): Promise<void> {
  measured.load.after = load();
  await writeFile(measurements, `${JSON.stringify(measured, null, 1)}\n`);
}

async function measureAll(times: number): Promise<void> {
  requirePeers(compared);
  const measured: Comparison = {
    date: new Date().toISOString().slice(0, 10),
    commit: told('git', 'rev-parse', '--short', 'HEAD'),
    machine: {
      system: `${type()} ${release()}`,
      processor: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGB: Math.round(totalmem() / 2 ** 30),
      chromium: told(browser, '--version', '--no-sandbox').replace(/ built on.*/, ''),
      node: process.version,
    },
    load: { before: load(), after: [] },
    servers: [],
    errands: [],
    looks: [],
  };
  for (const server of compared)
    measured.servers.push({
      server,
      version: await versionOf(server),
      toolsList: await listed(server),
      instructions: 0,
    });
  for (const errand of [...inApplications, ...onPages])
    for (const server of compared) {
      const runs: Run[] = [];
      for (let n = 0; n < times; n++) runs.push(await run(errand, server));
      const one = together(errand.name, server, runs);
      measured.errands.push(one);
      const about = measured.servers.find((other) => other.server === server);
      if (about !== undefined)
        about.instructions = Math.max(about.instructions, ...runs.map(({ known }) => known));
      await keep(measured);
      console.log(
        `${server}, ${errand.name}: ${one.done} of ${one.runs}, ${one.calls} / ${one.tokens} / ${one.ms} ms`,
      );
    }
  for (const looked of lookedAt)
    for (const server of compared) {
      const taken: number[][] = [];
      for (let n = 0; n < times; n++) taken.push(await measure(looked, server));
      const tokens = [0, 1, 2, 3].map((i) => median(taken.map((one) => one[i] ?? 0)));
      measured.looks.push({ page: looked.name, server, tokens });
      await keep(measured);
      console.log(`${server}, ${looked.name}: ${tokens.join(' / ')}`);
    }
}

if (values.render !== true) await measureAll(Number(values.runs ?? 1));
await writeFile(page, rendered(await readFile(page, 'utf8'), await readMeasurements()));
