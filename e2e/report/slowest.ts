// Prints what the cases of a run of `make test` cost by kind, the suites that cost most, the slowest tests, and those
// that failed first and passed then.

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { fromJunit, Took } from './took.ts';

const folder = path.resolve(import.meta.dirname, '../../test-results');

const all: Took[] = [];
for (const file of await readdir(folder)) {
  const text = await readFile(path.join(folder, file), 'utf8');
  if (file.endsWith('.json')) all.push(...z.array(Took).parse(JSON.parse(text)));
  else if (file.endsWith('.xml')) all.push(...fromJunit(path.basename(file, '.xml'), text));
}
const most = 10;
const seconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(8)} s`;

console.log(`${all.length} tests, by kind:`);
for (const { name, count, ms } of sums(all, kindOf))
  console.log(`${seconds(ms)}  ${name}: ${count}, ${(ms / 1000 / count).toFixed(2)} s each`);
console.log('The suites that cost most:');
for (const { name, count, ms } of sums(all, ({ suite }) => suite).slice(0, most))
  console.log(`${seconds(ms)}  ${name}: ${count}`);
console.log('The slowest tests:');
for (const { suite, test, ms } of all.sort((a, b) => b.ms - a.ms).slice(0, most))
  console.log(`${seconds(ms)}  ${suite}: ${test}`);
const flaky = all.filter((one) => one.flaky);
if (flaky.length > 0) console.log('Flaky, which means a defect to be mended:');
for (const { suite, test } of flaky) console.log(`  ${suite}: ${test}`);

function kindOf({ suite }: Took): string {
  if (suite === 'tabrelay/cmd/tabrelay') return 'the command line';
  if (suite.startsWith('tabrelay/')) return 'Go, with the race detector';
  if (suite.startsWith('e2e/')) return 'the whole path in Chromium';
  return suite === 'extension-e2e' ? 'the extension in Chromium' : 'TypeScript';
}

/** How many tests there are of each name and what they took together, the dearest first. */
function sums(tests: readonly Took[], nameOf: (one: Took) => string) {
  const of = new Map<string, { name: string; count: number; ms: number }>();
  for (const one of tests) {
    const name = nameOf(one);
    const { count, ms } = of.get(name) ?? { count: 0, ms: 0 };
    of.set(name, { name, count: count + 1, ms: ms + one.ms });
  }
  return [...of.values()].sort((one, other) => other.ms - one.ms);
}
