// A reporter for Playwright: it keeps how long each test took, for slowest.ts, and says at the very end in a line each
// why attempts failed, so that the last lines of a long log tell.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { FullConfig, Reporter, Suite, TestCase } from '@playwright/test/reporter';
import type { Took } from './took.ts';

const longestReason = 400; // characters of an attempt's error

const folder = path.resolve(import.meta.dirname, '../../test-results');

export default class Keeper implements Reporter {
  #suite: Suite | undefined;

  onBegin(_config: FullConfig, suite: Suite): void {
    this.#suite = suite;
  }

  onEnd(): void {
    const tests = this.#suite?.allTests() ?? [];
    const took = tests.map(
      (test): Took => ({
        suite: path.relative(path.resolve(folder, '..'), test.location.file),
        test: test.title,
        ms: test.results.reduce((sum, { duration }) => sum + duration, 0),
        flaky: test.outcome() === 'flaky',
      }),
    );
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'e2e.json'), JSON.stringify(took));
    for (const line of tests.flatMap(failedAttempts)) console.log(line);
  }

  printsToStdio(): boolean {
    return false;
  }
}

function failedAttempts(test: TestCase): string[] {
  return test.results.flatMap(({ error, retry, status }) => {
    if (status === test.expectedStatus || status === 'skipped') return [];
    const reason = stripVTControlCharacters(error?.message ?? status).replace(/\s+/g, ' ');
    return [`${test.title}, attempt ${retry + 1}: ${reason.slice(0, longestReason)}`];
  });
}
