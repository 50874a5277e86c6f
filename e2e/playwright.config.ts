import { defineConfig } from '@playwright/test';

// Two workers, each with a relay and a browser for the tests that need none of their own: no test depends on a clock,
// so what runs beside it does not matter. A failure is a failure; only where nobody watches (CI) is the test run
// again, and one that passes then is listed as flaky, which means a defect to be mended. The limits here end what
// hangs, also on a machine that is four times slower than one of today.
export default defineConfig({
  testDir: 'specs',
  workers: 2,
  retries: process.env.CI === undefined ? 0 : 1,
  timeout: 180_000,
  expect: { timeout: 60_000 },
  forbidOnly: process.env.CI !== undefined,
  reporter: [['list'], ['./report/playwright.ts']],
  use: { trace: 'off' },
});
