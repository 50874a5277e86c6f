// In CI: runs the tests of node's test runner that failed a second time. Those that pass then are listed as flaky at
// the end of `make test`; it fails when one fails again. Usage: again.ts RESULTS SUITE FILES

import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fromJunit, type Took } from './took.ts';

const [, , results = '', suite = '', ...files] = process.argv;
const report = await readFile(path.join(results, `${suite}.xml`), 'utf8');
const failed = fromJunit(suite, report).filter((one) => one.failed);
if (failed.length === 0 || failed.length > 5) process.exit(1); // it broke in another way than by a test or two

console.log(`once more: ${failed.map(({ test }) => test).join('; ')}`);
const exactly = (name: string) => `--test-name-pattern=^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
const { status, stdout } = spawnSync(
  process.execPath,
  [
    ...['--import', 'tsx', '--test', '--test-reporter=tap', '--test-concurrency=1'],
    ...failed.map(({ test }) => exactly(test)),
    ...files,
  ],
  { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' },
);
if (status !== 0) console.log(stdout);
// A name that matched no test is no success.
if (status !== 0 || !stdout.includes(`\n# pass ${failed.length}\n`)) process.exit(1);
const flaky: Took[] = failed.map(({ test, ms }) => ({ suite, test, ms, flaky: true }));
await writeFile(path.join(results, `${suite}-flaky.json`), JSON.stringify(flaky));
console.log('all of these passed');
