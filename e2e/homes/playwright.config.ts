import { defineConfig } from '@playwright/test';

// People who have nothing of tabrelay yet, each in a Debian of their own: `make homes-check`. They use the ports that
// tabrelay has by default, so one comes after the other.
export default defineConfig({
  testDir: '.',
  outputDir: '../test-results/homes',
  workers: 1,
  timeout: 900_000,
  expect: { timeout: 120_000 },
  forbidOnly: process.env.CI !== undefined,
  reporter: [['list']],
  use: { trace: 'off' },
});
