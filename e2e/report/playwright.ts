// A reporter for Playwright that keeps how long each test took, for slowest.ts.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { FullConfig, Reporter, Suite } from '@playwright/test/reporter';
import type { Took } from './took.ts';

const folder = path.resolve(import.meta.dirname, '../../test-results');

export default class Keeper implements Reporter {
  #suite: Suite | undefined;

  onBegin(_config: FullConfig, suite: Suite): void {
    this.#suite = suite;
  }

  onEnd(): void {
    const took = (this.#suite?.allTests() ?? []).map(
      (test): Took => ({
        suite: path.relative(path.resolve(folder, '..'), test.location.file),
        test: test.title,
        ms: test.results.reduce((sum, { duration }) => sum + duration, 0),
        flaky: test.outcome() === 'flaky',
      }),
    );
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'e2e.json'), JSON.stringify(took));
  }

  printsToStdio(): boolean {
    return false;
  }
}
