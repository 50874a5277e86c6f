// Prints the ten slowest tests of a run of `make test`, and those that failed first and passed then.

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
console.log(`${all.length} tests. The ten slowest:`);
for (const { suite, test, ms } of all.sort((a, b) => b.ms - a.ms).slice(0, 10))
  console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${suite}: ${test}`);
const flaky = all.filter((one) => one.flaky);
if (flaky.length > 0) console.log('Flaky, which means a defect to be mended:');
for (const { suite, test } of flaky) console.log(`  ${suite}: ${test}`);
