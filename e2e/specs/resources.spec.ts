// What an agent can read without calling a tool: tabs, consoles, what the relay keeps, files, programs.

import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { openReadingSite } from '../sites/reading.ts';
import { openBrowser, stopWorker } from '../stage/browser.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { expect, openStage, type Stage, test } from '../stage/test.ts';

/** Opens a page in a tab of its own, and returns the tab's number once it is listed. */
async function open(stage: Stage, url: string, title: string): Promise<{ page: Page; id: string }> {
  const page = await stage.browser.newPage();
  await page.goto(url);
  let uri = '';
  await expect
    .poll(async () => {
      const { resources } = await stage.agent.client.listResources();
      uri = resources.find((one) => one.title === title)?.uri ?? '';
      return uri;
    })
    .toMatch(/^tab:\/\/\d+\/text$/);
  return { page, id: new URL(uri).host };
}

async function read(stage: Stage, uri: string) {
  const { contents } = await stage.agent.client.readResource({ uri });
  return contents.map((one) => ({ ...one, text: 'text' in one ? one.text : '', meta: one._meta ?? {} }));
}

/** What a failed read says. */
async function refused(stage: Stage, uri: string): Promise<{ code: unknown; message: string; data: object }> {
  const why: unknown = await stage.agent.client.readResource({ uri }).catch((error: unknown) => error);
  expect(why).toBeInstanceOf(Error);
  const data = why instanceof Error && 'data' in why && typeof why.data === 'object' ? (why.data ?? {}) : {};
  return { code: why instanceof Error && 'code' in why ? why.code : 0, message: String(why), data };
}

test('a page is read as a person sees it, frame by frame, and its markup without secrets', async ({
  stage,
}) => {
  const site = await openReadingSite(stage.closing);
  const { page, id } = await open(stage, `${site}/?token=address-secret#fragment-secret`, 'Tea for two');
  const { resources } = await stage.agent.client.listResources();
  expect(resources.find((one) => one.uri === `tab://${id}/text`)).toMatchObject({
    description: `${site}/ (in front)`,
    mimeType: 'text/plain',
  });

  const [top, frame, ...more] = await read(stage, `tab://${id}/text`);
  expect(top?.text).toBe('How to make tea\n\nBoil the water.\n\nFrom the shadow');
  expect(top?.meta).toEqual({
    'tabrelay/origin': site,
    'tabrelay/page': `${site}/`,
    'tabrelay/title': 'Tea for two',
    'tabrelay/untrusted': true,
  });
  expect(frame?.text).toBe('words of the frame');
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
  for (const secret of [
    'meta-secret',
    'script-secret',
    'hidden-secret',
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

test('pages that make it hard are read all the same', async ({ stage }) => {
  const site = await openReadingSite(stage.closing);
  for (const [where, title, words] of [
    ['/vandal', 'Vandal', 'true words'],
    ['/strict', 'Strict', 'strict words'],
  ] as const) {
    const { id } = await open(stage, site + where, title);
    expect((await read(stage, `tab://${id}/text`))[0]?.text).toBe(words);
    expect((await read(stage, `tab://${id}/html`))[0]?.text).toContain(words);
  }
  const plain = await open(stage, `${site}/plain`, `127.0.0.1:${new URL(site).port}/plain`);
  expect((await read(stage, `tab://${plain.id}/text`))[0]?.text).toBe('just text <b>not bold</b>');
});

test('a page of 10 MB comes in parts that join to the whole', async ({ stage }) => {
  const site = await openReadingSite(stage.closing);
  const { id } = await open(stage, `${site}/huge`, 'Huge');
  const began = performance.now();
  const [first] = await read(stage, `tab://${id}/text`);
  expect(performance.now() - began).toBeLessThan(8000);
  expect(first?.text.length).toBeLessThan(105_000);
  const next = /\[cut here: characters 0 to 102400 of (\d+); (\S+) reads on\]$/.exec(first?.text ?? '');
  expect(next?.[2]).toBe(`tab://${id}/text?from=102400`);
  const total = Number(next?.[1]);
  expect(first?.meta['tabrelay/truncated']).toEqual({ from: 0, characters: 102_400, total });
  const [last] = await read(stage, `tab://${id}/text?from=${total - 50}`);
  expect(last?.text).toMatch(/the very end$/);
  const [html] = await read(stage, `tab://${id}/html?from=10000000`);
  expect(html?.text).toMatch(/paragraph number/);
});

test('a page that is stuck is told apart from one that is gone', async ({ stage }) => {
  test.setTimeout(90_000);
  const site = await openReadingSite(stage.closing);
  const { page, id } = await open(stage, `${site}/busy`, 'Busy');
  page.click('body').catch(() => {});
  const stuck = () =>
    Promise.race([page.evaluate('"free"'), new Promise((done) => setTimeout(done, 500, 'stuck'))]);
  await expect.poll(stuck).toBe('stuck');
  const why = await refused(stage, `tab://${id}/text`);
  expect(why).toMatchObject({ code: -32603, data: { code: 'RESOURCE_UNREADABLE', retryable: true } });
  expect(why.message).toContain('Unable to read resource');
});

test('a console is captured from its first read on, also across navigation, and tells when it grows', async ({
  stage,
}) => {
  const site = await openReadingSite(stage.closing);
  const { page, id } = await open(stage, `${site}/noisy`, 'Noisy');
  await page.click('button'); // before anybody reads: not seen
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
  const [some] = await read(stage, uri);
  expect(
    some?.text
      .split('\n')
      .slice(3, 7)
      .map((line) => line.replace(/^[\d:.]{12} /, ''))
      .toSorted(),
  ).toEqual([
    'error: first trouble [object Object] Error: inner',
    'uncaught: Uncaught TypeError: uncaught one',
    'unhandled rejection: Error: rejected one',
    'warning: Authorization: Bearer [redacted]',
  ]);

  updates.length = 0;
  await page.goto(`${site}/noisy?again`);
  await expect.poll(() => updates).toContain(uri);
  await expect(async () => expect((await read(stage, uri))[0]?.text).toContain('Nothing so far')).toPass();
  updates.length = 0;
  await page.click('button');
  await expect.poll(() => updates).toContain(uri);
  expect((await read(stage, uri))[0]?.text).toContain('first trouble');
});

test('a console that is watched survives the death of the worker', async ({ stage }) => {
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
  expect((await read(stage, uri))[0]?.text).toBe('strict words');
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
    'What the relay has told lately',
  ]);
});

test('subscribers of a tab hear of another page, and of tabs that come and go', async ({ stage }) => {
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

test('files, programs and what the relay keeps', async ({ closing }) => {
  const folder = await temporaryFolder('files', closing);
  await mkdir(path.join(folder, 'docs'));
  await writeFile(path.join(folder, 'docs/note.md'), '# A note\n');
  await writeFile(path.join(folder, 'picture.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]));
  await symlink('/etc/passwd', path.join(folder, 'link'));
  const program = path.join(folder, 'provider');
  await writeFile(
    program,
    '#!/bin/sh\necho "secret complaint" >&2\n[ "$1" = "note://here/a" ] || exit 3\nprintf "a note by a program"\n',
  );
  await chmod(program, 0o700);
  const stage = await openStage(closing, {
    config: { resources: { file: { roots: [folder] }, providers: { note: { command: [program] } } } },
  });
  const { resourceTemplates } = await stage.agent.client.listResourceTemplates();
  expect(resourceTemplates.map((one) => one.uriTemplate)).toEqual([
    'tab://{id}/text',
    'tab://{id}/html',
    'console://{id}',
    'result://{id}',
    'deadletter://{id}',
    'file:///{+path}',
    'note://{+rest}',
  ]);

  const root = `file://${folder}/`;
  const { resources } = await stage.agent.client.listResources();
  expect(resources.map((one) => one.uri)).toEqual(expect.arrayContaining([root, 'events://recent']));
  expect((await read(stage, root))[0]?.text).toBe('docs/\npicture.png (8 bytes)\nprovider (104 bytes)\n');
  expect((await read(stage, `${root}docs/note.md`))[0]).toMatchObject({
    text: '# A note\n',
    mimeType: 'text/markdown',
  });
  expect((await read(stage, `${root}picture.png`))[0]).toMatchObject({
    blob: 'iVBORwABAv8=',
    mimeType: 'image/png',
  });
  for (const uri of [
    'file:///etc/passwd',
    `${root}link`,
    `${root}../../etc/passwd`,
    'file:///no/such/file',
  ]) {
    expect(await refused(stage, uri)).toMatchObject({ code: -32603, data: { type: 'permission_denied' } });
  }
  expect(await refused(stage, `${root}none`)).toMatchObject({ code: -32002, data: { uri: `${root}none` } });

  expect((await read(stage, 'note://here/a'))[0]?.text).toBe('a note by a program');
  const none = await refused(stage, 'note://here/b');
  expect(none.code).toBe(-32002);
  expect(JSON.stringify(none)).not.toContain('secret complaint');
  expect(await refused(stage, 'https://example.org/')).toMatchObject({
    code: -32603,
    data: { type: 'permission_denied' },
  });
  expect(await refused(stage, 'nonsense://x')).toMatchObject({ code: -32002 });

  const [events] = await read(stage, 'events://recent');
  const { events: told }: { events: { kind: string }[] } = JSON.parse(events?.text ?? '{}');
  expect(told.map((one) => one.kind)).toContain('connected');
});
