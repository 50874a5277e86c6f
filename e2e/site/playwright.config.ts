import { defineConfig } from '@playwright/test';
import { browser } from '../stage/paths.ts';

// The documentation's site, which `make site` has built.
export default defineConfig({
  testDir: '.',
  timeout: 180_000,
  expect: { timeout: 60_000 },
  forbidOnly: process.env.CI !== undefined,
  use: { launchOptions: { executablePath: browser, args: ['--no-sandbox', '--disable-gpu'] } },
});
