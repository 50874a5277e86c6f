// Consoles of tabs as an agent reads them.

import { openReadingSite } from '../sites/reading.ts';
import { stopWorker } from '../stage/browser.ts';
import { open, pageWords, read } from '../stage/resources.ts';
import { expect, test } from '../stage/test.ts';

test('a console is captured from its first read on, also across navigation, and tells when it grows', async ({
  sharedStage: stage,
}) => {
  const site = await openReadingSite(stage.closing);
  const { page, id } = await open(stage, `${site}/noisy`, 'Noisy');
  await page.click('button'); // before anybody reads: not seen
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve))); // nor what the press left for later
  const uri = `console://${id}`;
  const [nothing] = await read(stage, uri);
  expect(nothing?.text).toMatch(
    /^Console of tab \d+, http:\/\/127\.0\.0\.1:\d+\/noisy\nCaptured since .* UTC: .*\nNothing so far\./,
  );

  const updates: string[] = [];
  stage.agent.client.fallbackNotificationHandler = async ({ method, params }) => {
    if (method === 'notifications/resources/updated') updates.push(String(params?.uri));
  };
  await stage.agent.client.subscribeResource({ uri });
  await page.click('button');
  await expect.poll(() => updates).toContain(uri);
  // What one press causes comes in several tasks of the page, and it is told of the first.
  await expect(async () => {
    const [some] = await read(stage, uri);
    expect(
      pageWords(some?.text)
        .split('\n')
        .map((line) => line.replace(/^[\d:.]{12} /, ''))
        .toSorted(),
    ).toEqual([
      'error: first trouble [object Object] Error: inner',
      'uncaught: Uncaught TypeError: uncaught one',
      'unhandled rejection: Error: rejected one',
      'warning: Authorization: Bearer [redacted]',
    ]);
  }).toPass();

  updates.length = 0;
  await page.goto(`${site}/noisy?again`);
  await expect.poll(() => updates).toContain(uri);
  await expect(async () => expect((await read(stage, uri))[0]?.text).toContain('Nothing so far')).toPass();
  updates.length = 0;
  await page.click('button');
  await expect.poll(() => updates).toContain(uri); // perhaps still of the other page
  await expect(async () => expect((await read(stage, uri))[0]?.text).toContain('first trouble')).toPass();
});

test('a console that is watched survives the death of the worker', async ({ sharedStage: stage }) => {
  const site = await openReadingSite(stage.closing);
  const { page, id } = await open(stage, `${site}/noisy`, 'Noisy');
  const uri = `console://${id}`;
  let updates = 0;
  stage.agent.client.fallbackNotificationHandler = async ({ method }) => {
    if (method === 'notifications/resources/updated') updates++;
  };
  await stage.agent.client.subscribeResource({ uri });
  await expect(async () => expect((await read(stage, uri))[0]?.text).toContain('Nothing so far')).toPass();
  await stopWorker(stage.browser);
  await page.click('button');
  await expect.poll(() => updates).toBeGreaterThan(0);
  await expect(async () => expect((await read(stage, uri))[0]?.text).toContain('first trouble')).toPass();
  updates = 0;
  await page.click('button');
  await expect.poll(() => updates).toBeGreaterThan(0);
});
