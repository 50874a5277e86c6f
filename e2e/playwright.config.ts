import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from '@playwright/test';
import { browser } from './stage/paths.ts';

// `make test` installs Debian's web applications on Debian. Elsewhere their tests are left out, and it says so.
const ofDebian = /sites\/(?:mediawiki|wordpress|roundcube|tt-rss|dokuwiki|prometheus)|bench\/errands\//;
const specs = path.join(import.meta.dirname, 'specs');
const needsDebian = (file: string): boolean =>
  file === 'bench.spec.ts' || ofDebian.test(readFileSync(path.join(specs, file), 'utf8'));
const leftOut = existsSync('/etc/debian_version') ? [] : readdirSync(specs).filter(needsDebian);
if (leftOut.length > 0)
  console.log(`left out, as they need web applications of Debian: ${leftOut.join(', ')}`);

// Two workers, each with a relay and a browser for the tests that need none of their own: no test depends on a clock,
// so what runs beside it does not matter. A failure is a failure; only where nobody watches (CI) is the test run
// again, and one that passes then is listed as flaky, which means a defect to be mended. The limits here end what
// hangs, also on a machine that is four times slower than one of today.
export default defineConfig({
  testDir: 'specs',
  testIgnore: leftOut,
  workers: 2,
  retries: process.env.CI === undefined ? 0 : 1,
  timeout: 180_000,
  expect: { timeout: 60_000 },
  forbidOnly: process.env.CI !== undefined,
  reporter: [['list'], ['./report/playwright.ts']],
  // Of Playwright's own fixtures `browser` and `page`: a Chromium without the extension, one for each worker.
  use: { trace: 'off', launchOptions: { executablePath: browser, args: ['--no-sandbox'] } },
});
