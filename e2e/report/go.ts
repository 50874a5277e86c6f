// Reads what `go test -json` writes: prints a line for each package and all of what failed, keeps how long each test
// took, and ends as the tests did. Usage: go test -json … | go.ts FILE

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

const took: Took[] = [];
const said = new Map<string, string>(); // by test: what it printed so far
let packages = 0;
let failed = false;

for await (const line of createInterface({ input: process.stdin })) {
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
  if (action === 'fail' || action === 'build-fail') failed = true;
  if (action !== 'pass' && action !== 'fail' && action !== 'skip') continue;
  if (test === undefined) {
    packages++;
    if (action === 'fail') process.stdout.write(said.get(key) ?? '');
    else if (action === 'pass') console.log(`ok  ${name}  ${seconds.toFixed(1)} s`);
  } else {
    if (action === 'fail') process.stdout.write(`${name}\n${said.get(key) ?? ''}`);
    if (!test.includes('/')) took.push({ suite: name, test, ms: seconds * 1000, flaky: false });
  }
  said.delete(key);
}
const [file] = process.argv.slice(2);
if (file !== undefined) await writeFile(file, JSON.stringify(took));
if (packages === 0) console.error('go test ran no package');
process.exitCode = failed || packages === 0 ? 1 : 0;
