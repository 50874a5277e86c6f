// Every program of `make bench-all` works: each runs once, with one round.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import { repository } from '../stage/paths.ts';
import { run } from '../stage/process.ts';

// What a program is given to be short. Peers are no part of make test.
const shortened: Record<string, string[]> = {
  'errands.ts': ['--servers', 'tabrelay', '--only', 'order'],
  'looks.ts': ['--servers', 'tabrelay', '--only', 'article'],
};

const makefile = await readFile(path.join(repository, 'Makefile'), 'utf8');
const bench = /^bench-all:.*\n(?:\t.*\n)+/m.exec(makefile)?.[0] ?? '';
const programs = new Set(Array.from(bench.matchAll(/e2e\/bench\/\S+\.ts/g), ([file]) => file));

test('the Makefile names programs that measure', () => {
  expect(programs.size).toBeGreaterThan(5);
});

for (const file of programs) {
  test(`${file} measures for one round`, async () => {
    const more = shortened[path.basename(file)] ?? [];
    const printed = await run('node', ['--import', 'tsx', path.join(repository, file), ...more], {
      ROUNDS: '1',
    });
    expect(printed).toMatch(/\d/);
    expect(printed).not.toContain('NaN');
  });
}
