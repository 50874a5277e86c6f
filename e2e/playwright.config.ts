import { defineConfig } from '@playwright/test';

// A failure is a failure: no retries. One worker: each test drives a browser and a relay of its own, and timing
// that is asserted must not depend on what runs beside it.
export default defineConfig({
  testDir: 'specs',
  workers: 1,
  retries: 0,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: process.env.CI !== undefined,
  reporter: [['list']],
  use: { trace: 'off' },
});
