// Runs `go test -json` with the arguments behind `--`: prints a line for each package and all of what failed, keeps how
// long each test took, and ends as the tests did. In CI what failed runs once more, alone: what passes then is listed
// as flaky at the end of `make test`. Usage: go.ts FILE -- ARGUMENTS OF GO TEST

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Took } from './took.ts';

const Event = z.object({
  Action: z.string(),
  Package: z.string().optional(),
  Test: z.string().optional(),
  Elapsed: z.number().optional(),
  Output: z.string().optional(),
});

/** A test by its package and its name, which has a / before the name of each subtest. */
type Failure = { name: string; test: string };

const mostAgain = 5; // more than that is no matter of chance

const [, , file = '', dashes, ...args] = process.argv;
if (dashes !== '--' || args.length === 0) throw new Error('usage: go.ts FILE -- ARGUMENTS OF GO TEST');
const { took, failures, packages, broken, status } = await run(args);
if (packages === 0) console.error('go test ran no package');
const leaves = failures.filter(
  (one) => !failures.some((other) => other.name === one.name && other.test.startsWith(`${one.test}/`)),
);
let good = status === 0 && packages > 0;
if (!good && !broken && process.env.CI === 'true' && leaves.length > 0 && leaves.length <= mostAgain) {
  good = true;
  for (const one of leaves) good = (await again(one)) && good;
}
await writeFile(file, JSON.stringify(took));
process.exitCode = good ? 0 : 1;

/** Whether a test passes alone, with the flags that it failed with. */
async function again({ name, test }: Failure): Promise<boolean> {
  console.log(`once more: ${name} ${test}`);
  const only = test
    .split('/')
    .map((part) => `^${part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
    .join('/');
  const flags = args.filter((arg) => !arg.startsWith('./') && !arg.startsWith('tabrelay'));
  const second = await run([...flags, '-count=1', '-run', only, name]);
  if (second.status !== 0 || !second.took.some((one) => one.test === topOf(test))) return false;
  const top = took.find((one) => one.suite === name && one.test === topOf(test));
  if (top) top.flaky = true;
  return true;
}

/** What a run of `go test` said, as it said it. `broken`: a package that failed otherwise than by a test. */
async function run(goArgs: readonly string[]) {
  const took: Took[] = [];
  const failures: Failure[] = [];
  const said = new Map<string, string>(); // by test: what it printed so far
  let packages = 0;
  let broken = false;
  const go = spawn('go', ['test', '-json', ...goArgs], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(go, 'close');
  for await (const line of createInterface({ input: go.stdout })) {
    if (!line.startsWith('{')) {
      console.log(line);
      continue;
    }
    const {
      Action: action,
      Package: name = '',
      Test: test,
      Elapsed: seconds = 0,
      Output: output,
    } = Event.parse(JSON.parse(line));
    const key = `${name} ${test ?? ''}`;
    if (action === 'output') said.set(key, (said.get(key) ?? '') + output);
    if (action === 'build-output') process.stdout.write(output ?? '');
    if (action === 'build-fail') broken = true;
    if (action !== 'pass' && action !== 'fail' && action !== 'skip') continue;
    if (test === undefined) {
      packages++;
      if (action === 'fail') process.stdout.write(said.get(key) ?? '');
      else if (action === 'pass') console.log(`ok  ${name}  ${seconds.toFixed(1)} s`);
      if (action === 'fail' && !failures.some((one) => one.name === name)) broken = true;
    } else {
      if (action === 'fail') {
        process.stdout.write(`${name}\n${said.get(key) ?? ''}`);
        failures.push({ name, test });
      }
      if (!test.includes('/')) took.push({ suite: name, test, ms: seconds * 1000, flaky: false });
    }
    said.delete(key);
  }
  const [status] = z.tuple([z.number().nullable(), z.unknown()]).parse(await closed);
  return { took, failures, packages, broken, status };
}

function topOf(test: string): string {
  return test.split('/')[0] ?? test;
}
