// Runs the official conformance suites of MCP against package front, and compares what every scenario came to with
// baseline.json. `make conformance` calls it; `--times 20` runs everything twenty times.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { start } from '../stage/process.ts';
import { compare, type Outcome, outcomeOf } from './outcome.ts';
import { address, build, succeed } from './server.ts';

const here = import.meta.dirname;
/** The suites need Node 22; everything else in this repository runs on the person's own. */
const node = path.join(here, 'node_modules/node/bin/node');

const Baseline = z.record(
  z.string(),
  z.object({
    suite: z.enum(['0.1', '0.2']),
    arguments: z.array(z.string()),
    /** How many scenarios there are: a suite that runs nothing must not pass. */
    scenarios: z.number().int().positive(),
    /** Those that do not pass, and why that is right. */
    known: z.record(
      z.string(),
      z.object({ outcome: z.enum(['failed', 'warned', 'skipped']), why: z.string() }),
    ),
  }),
);

const { values } = parseArgs({ options: { times: { type: 'string', default: '1' } } });
const times = Number(values.times);
const baseline = Baseline.parse(JSON.parse(await readFile(path.join(here, 'baseline.json'), 'utf8')));
const scratch = await mkdtemp(path.join(tmpdir(), 'conformance-'));
let wrong = 0;
try {
  const binary = await build(scratch);
  for (let round = 1; round <= times; round++) {
    for (const [name, suite] of Object.entries(baseline)) {
      const began = Date.now();
      const found = await inspect(
        binary,
        suite.suite,
        suite.arguments,
        path.join(scratch, `${round}-${name}`),
      );
      const complaints = compare(found, suite.scenarios, suite.known);
      for (const complaint of complaints) console.error(`${name}: ${complaint}`);
      wrong += complaints.length;
      const count = (outcome: Outcome) => [...found.values()].filter((o) => o === outcome).length;
      console.log(
        `${round}/${times} ${name}: ${count('passed')} of ${found.size} scenarios pass, ` +
          `${count('failed') + count('warned') + count('skipped')} known, ${complaints.length} wrong, ` +
          `${((Date.now() - began) / 1000).toFixed(1)} s`,
      );
    }
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
process.exitCode = wrong > 0 ? 1 : 0;

/** Runs one suite against a server of its own and returns what became of each scenario. */
async function inspect(
  binary: string,
  suite: string,
  options: readonly string[],
  folder: string,
): Promise<Map<string, Outcome>> {
  const server = start(binary, []);
  try {
    const url = await address(server);
    const command = path.join(here, `node_modules/conformance-${suite}/dist/index.js`);
    await succeed(start(node, [command, 'server', '--url', url, ...options, '-o', folder]));
    return await read(folder);
  } finally {
    await server.stop();
  }
}

/** Reads the checks of every scenario: one folder each, named after the scenario and the time it ran. */
async function read(folder: string): Promise<Map<string, Outcome>> {
  const Checks = z.array(z.object({ status: z.string() }));
  const found = new Map<string, Outcome>();
  for (const entry of await readdir(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d{2}-\d{2}T/.exec(entry)?.[1];
    if (scenario === undefined) throw new Error(`unexpected result folder ${entry}`);
    const checks = Checks.parse(JSON.parse(await readFile(path.join(folder, entry, 'checks.json'), 'utf8')));
    found.set(scenario, outcomeOf(checks.map((check) => check.status)));
  }
  return found;
}
