import { defineConfig } from '@playwright/test';

// A failure is a failure: no retries. One worker: each test drives a browser and a relay of its own, and timing
// that is asserted must not depend on what runs beside it. The limits here end what hangs, also on a machine that is
// four times slower than one of today; what is promised has limits of its own in the tests.
export default defineConfig({
  testDir: 'specs',
  workers: 1,
  retries: 0,
  timeout: 180_000,
  expect: { timeout: 60_000 },
  forbidOnly: process.env.CI !== undefined,
  reporter: [['list']],
  use: { trace: 'off' },
});
