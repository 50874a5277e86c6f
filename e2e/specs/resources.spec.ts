// Tabs as an agent reads them without calling a tool.

import { openReadingSite } from '../sites/reading.ts';
import { openBrowser } from '../stage/browser.ts';
import { open, pageWords, read, refused } from '../stage/resources.ts';
import { expect, test } from '../stage/test.ts';

test('a page is read as a person sees it, frame by frame, and its markup without secrets', async ({
  sharedStage: stage,
}) => {
  const site = await openReadingSite(stage.closing);
  const { page, id } = await open(stage, `${site}/?token=address-secret#fragment-secret`, 'Tea for two');
  const { resources } = await stage.agent.client.listResources();
  expect(resources.find((one) => one.uri === `tab://${id}/text`)).toMatchObject({
    description: `${site}/ (in front)`,
    mimeType: 'text/plain',
  });

  const [top, frame, ...more] = await read(stage, `tab://${id}/text`);
  expect(pageWords(top?.text)).toBe('How to make tea\n\nBoil the water.\n\nFrom the shadow');
  expect(top?.meta).toEqual({
    'tabrelay/origin': site,
    'tabrelay/page': `${site}/`,
    'tabrelay/title': 'Tea for two',
    'tabrelay/untrusted': true,
  });
  expect(pageWords(frame?.text)).toBe('words of the frame');
  const frameUrl = `${site.replace('127.0.0.1', 'localhost')}/frame`;
  expect(frame?.meta).toMatchObject({
    'tabrelay/frame': frameUrl,
    'tabrelay/origin': new URL(frameUrl).origin,
  });
  expect(more).toEqual([]);

  const [html] = await read(stage, `tab://${id}/html`);
  expect(html?.mimeType).toBe('text/html');
  expect(html?.text).toMatch(/^<!doctype html>\n<html><head><title>Tea for two<\/title>/);
  expect(html?.text).toContain('value="visible"');
  const aside = ['in template', 'in its template', 'without scripts', 'in srcdoc', 'in its srcdoc'];
  for (const where of aside) expect(html?.text).toContain(`visible ${where}`);
  for (const secret of [
    'meta-secret',
    'script-secret',
    'hidden-secret',
    'labelled-secret',
    'typed-secret',
    'password-secret',
    'address-secret',
    'nobody sees',
  ])
    expect(JSON.stringify([top, frame, html, resources])).not.toContain(secret);

  await page.close();
  await expect(async () => {
    expect(await refused(stage, `tab://${id}/text`)).toMatchObject({
      code: -32002,
      data: { code: 'RESOURCE_NOT_FOUND' },
    });
  }).toPass();
});

test('pages that make it hard are read all the same', async ({ sharedStage: stage }) => {
  const site = await openReadingSite(stage.closing);
  for (const [where, title, words] of [
    ['/vandal', 'Vandal', 'true words'],
    ['/strict', 'Strict', 'strict words'],
  ] as const) {
    const { id } = await open(stage, site + where, title);
    expect(pageWords((await read(stage, `tab://${id}/text`))[0]?.text)).toBe(words);
    const [html] = await read(stage, `tab://${id}/html`);
    expect(html?.text).toContain(words);
    expect(html?.text).not.toContain('-secret');
  }
  const plain = await open(stage, `${site}/plain`, `127.0.0.1:${new URL(site).port}/plain`);
  expect(pageWords((await read(stage, `tab://${plain.id}/text`))[0]?.text)).toBe('just text <b>not bold</b>');
});

test('a page of 10 MB comes in parts that join to the whole', async ({ sharedStage: stage }) => {
  const site = await openReadingSite(stage.closing);
  const { id } = await open(stage, `${site}/huge`, 'Huge');
  const [first] = await read(stage, `tab://${id}/text`);
  expect(first?.text.length).toBeLessThan(35_000);
  const next = /\[cut here: characters 0 to 32768 of (\d+); (\S+) reads on\]$/.exec(first?.text ?? '');
  expect(next?.[2]).toBe(`tab://${id}/text?from=32768`);
  const total = Number(next?.[1]);
  expect(first?.meta['tabrelay/truncated']).toEqual({ from: 0, characters: 32_768, total });
  const [last] = await read(stage, `tab://${id}/text?from=${total - 50}`);
  expect(pageWords(last?.text)).toMatch(/the very end$/);
  const [html] = await read(stage, `tab://${id}/html?from=10000000`);
  expect(html?.text).toMatch(/paragraph number/);
});

test('a page that is stuck is told apart from one that is gone', async ({ sharedStage: stage }) => {
  const site = await openReadingSite(stage.closing);
  const { page, id } = await open(stage, `${site}/busy`, 'Busy');
  const stuck = page.waitForEvent('console'); // its last word
  page.click('body').catch(() => {});
  await stuck;
  const why = await refused(stage, `tab://${id}/text`);
  expect(why).toMatchObject({ code: -32603, data: { code: 'RESOURCE_UNREADABLE', retryable: true } });
  expect(why.message).toContain('Unable to read resource');
});

test('a tab that is asleep is listed as such, and not woken', async ({ stage }) => {
  const site = await openReadingSite(stage.closing);
  const { page } = await open(stage, `${site}/frame`, 'Frame');
  await stage.page.bringToFront();
  const worker = stage.browser.serviceWorkers()[0];
  await worker?.evaluate(
    `chrome.tabs.query({ title: 'Frame' }).then(([tab]) => chrome.tabs.discard(tab.id))`,
  );
  let uri = '';
  await expect
    .poll(async () => {
      const found = (await stage.agent.client.listResources()).resources.find((one) => one.title === 'Frame');
      uri = found?.uri ?? '';
      return found?.description;
    })
    .toBe(`${site}/frame (asleep)`);
  for (const asleep of [uri, uri.replace('tab:', 'console:').replace('/text', '')]) {
    const why = await refused(stage, asleep);
    expect(why).toMatchObject({ code: -32603, data: { code: 'RESOURCE_UNREADABLE', retryable: true } });
    expect(JSON.stringify(why.data)).toContain('has put the tab to sleep');
  }
  await page.close().catch(() => {}); // Playwright lost its page when the tab fell asleep
});

test('with two browser profiles a tab names its own', async ({ stage }) => {
  const site = await openReadingSite(stage.closing);
  const second = await openBrowser(stage.relay, stage.closing);
  await second.pages()[0]?.goto(`${site}/strict`);
  let uri = '';
  await expect
    .poll(async () => {
      const found = (await stage.agent.client.listResources()).resources.find(
        (one) => one.title === 'Strict',
      );
      uri = found?.uri ?? '';
      return uri;
    })
    .toMatch(/^tab:\/\/\d+\/text\?profile=Chrome\+\w+$/);
  expect(pageWords((await read(stage, uri))[0]?.text)).toBe('strict words');
  expect(await refused(stage, uri.replace(/profile=.*/, 'profile=Nobody'))).toMatchObject({ code: -32002 });
});

test('pages of the browser itself are not listed', async ({ stage }) => {
  const page = await stage.browser.newPage();
  await page.goto('chrome://version');
  await open(stage, `${await openReadingSite(stage.closing)}/frame`, 'Frame'); // by now the other one was told, too
  const { resources } = await stage.agent.client.listResources();
  expect(resources.map((one) => one.title)).toEqual([
    'tabrelay demo',
    'Frame',
    'What the relay has reported about this client lately',
  ]);
});

test('subscribers of a tab hear when its text changes', async ({ sharedStage: stage }) => {
  const site = await openReadingSite(stage.closing);
  const { page, id } = await open(stage, `${site}/frame`, 'Frame');
  const uri = `tab://${id}/text`;
  let heard = 0;
  stage.agent.client.fallbackNotificationHandler = async ({ params }) => {
    if (params?.uri === uri) heard++;
  };
  await stage.agent.client.subscribeResource({ uri });
  // The observer comes a moment after the subscription, so the page changes until it was heard.
  await expect
    .poll(async () => {
      await page.evaluate(() => document.body.append('a new line'));
      return heard;
    })
    .toBeGreaterThan(0);
});

test('subscribers of a tab hear of another page, and of tabs that come and go', async ({
  sharedStage: stage,
}) => {
  const site = await openReadingSite(stage.closing);
  const { page, id } = await open(stage, `${site}/frame`, 'Frame');
  const heard: string[] = [];
  stage.agent.client.fallbackNotificationHandler = async ({ method, params }) => {
    heard.push(`${method} ${params?.uri ?? ''}`);
  };
  const uri = `tab://${id}/text`;
  await stage.agent.client.subscribeResource({ uri });
  await page.goto(`${site}/strict`);
  await expect.poll(() => heard).toContain(`notifications/resources/updated ${uri}`);
  await expect.poll(() => heard).toContain('notifications/resources/list_changed ');
  await stage.agent.client.unsubscribeResource({ uri });
  await expect(stage.agent.client.subscribeResource({ uri: 'https://example.org/' })).rejects.toThrow(
    /cannot be subscribed/,
  );
});

test('a page of a plugin that shows a dialog is not waited for', async ({ sharedStage: stage }) => {
  const { resources } = await stage.agent.client.listResources();
  const uri = resources.find((one) => one.title === 'tabrelay demo')?.uri ?? '';
  const shown = stage.page.waitForEvent('dialog');
  stage.page.evaluate(() => void setTimeout(() => alert('look here')));
  const dialog = await shown;
  const why = await refused(stage, uri);
  expect(why).toMatchObject({ code: -32603, data: { code: 'RESOURCE_UNREADABLE', retryable: true } });
  expect(JSON.stringify(why.data)).toContain('shows a dialog');
  await dialog.accept();
  await expect(async () => expect((await read(stage, uri))[0]?.text).toContain('Counter')).toPass();
});
