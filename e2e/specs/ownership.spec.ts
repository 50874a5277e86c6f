/// <reference types="chrome" />
// Who works in which tab: one agent at a time changes things there, others are told who it is and how to go on, and the
// person decides.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Desks, Place } from '../stage/desks.ts';
import { expect, test } from '../stage/test.ts';

test('a tab belongs to who changes something there; others are told who, since when, and what to do', async ({
  closing,
}) => {
  const desks = await Desks.open(closing);
  await desks.profile('ada', 'h1', 'h2');
  const [codex, claude] = [await desks.agent('codex'), await desks.agent('claude-code')];
  const { tabId } = await desks.tab('h1');
  expect((await codex.call('desk__read', { tabId })).failed).toBe(false);
  expect(await desks.owner('h1')).toBeUndefined();
  expect(Place.parse((await codex.call('desk__write', { tabId, note: 'a' })).value).desk).toBe('h1');
  expect(await desks.owner('h1')).toBe('codex');

  const refused = await claude.call('desk__write', { tabId, note: 'b' });
  expect(refused.code).toBe('TAB_OWNED');
  expect(refused.text).toMatch(
    new RegExp(`Tab ${tabId} belongs to the client "codex", which has worked there for \\d`),
  );
  expect(refused.text).toContain(`\`tabrelay tabs release ${tabId}\``);
  expect(refused.text).toContain(`nobody else works in ${(await desks.tab('h2')).tabId}`);
  expect(refused.block).toMatchObject({ code: 'TAB_OWNED', retryable: true });
  expect(refused.facts.outcome).toBe('not_executed');
  expect((await claude.call('desk__read', { tabId })).failed).toBe(false); // reads go on

  const health = await claude.call('bridge_health', { details: true });
  expect(health.structured).toMatchObject({ owners: [{ tabId, owner: 'codex' }] });
  expect(await desks.relay.tabrelay('status')).toContain(`codex has tab ${tabId} of`);
  expect(await desks.relay.tabrelay('tabs')).toMatch(new RegExp(`^${tabId} .*codex`, 'm'));

  expect(await desks.relay.person('tabs', 'release', String(tabId))).toContain("is no longer codex's");
  expect((await claude.call('desk__write', { tabId, note: 'c' })).failed).toBe(false);
  expect((await codex.call('desk__write', { tabId, note: 'd' })).text).toContain('"claude-code"');
  expect(desks.site.notes.map(({ note }) => note)).toEqual(['a', 'c']);
});

test('an agent that leaves, and a tab that is closed, leave no owner behind', async ({ closing }) => {
  const desks = await Desks.open(closing);
  const home = await desks.profile('ada', 'h1', 'h2');
  const [codex, claude] = [await desks.agent('codex'), await desks.agent('claude-code')];
  for (const desk of ['h1', 'h2']) {
    const { tabId } = await desks.tab(desk);
    expect((await codex.call('desk__write', { tabId, note: desk })).failed).toBe(false);
  }
  await home.context.pages()[1]?.close();
  await desks.sit(home, 'h2');
  await expect.poll(() => desks.owner('h2')).toBeUndefined();
  expect(await desks.owner('h1')).toBe('codex');
  await codex.client.close();
  await expect.poll(() => desks.owner('h1')).toBeUndefined();
  const { tabId } = await desks.tab('h1');
  expect((await claude.call('desk__write', { tabId, note: 'b' })).failed).toBe(false);
});

test('two windows of one client share their tabs; sessions that one has named do not', async ({
  closing,
}) => {
  const desks = await Desks.open(closing);
  await desks.profile('ada', 'h1');
  const [one, two] = [await desks.agent('codex'), await desks.agent('codex')];
  const { tabId } = await desks.tab('h1');
  expect((await one.call('desk__write', { tabId, note: 'a' })).failed).toBe(false);
  expect((await two.call('desk__write', { tabId, note: 'b' })).failed).toBe(false);
  expect(await desks.owner('h1')).toBe('codex');
  expect((await two.call('desk__write', { tabId, note: 'c', session: 'night' })).code).toBe('TAB_OWNED');
});

test('two windows of one client, and sessions of one window, are told apart', async ({ closing }) => {
  const desks = await Desks.open(closing, { tabs: { ownedBy: 'session' } });
  await desks.profile('ada', 'h1', 'h2', 'h3');
  const [one, two] = [await desks.agent('codex'), await desks.agent('codex')];
  const at = async (desk: string) => ({ tabId: (await desks.tab(desk)).tabId });
  await one.call('desk__write', { ...(await at('h1')), note: 'a' });
  await two.call('desk__write', { ...(await at('h2')), note: 'b' });
  expect(await desks.owner('h2')).toBe('codex 2');
  const refused = await one.call('desk__write', { ...(await at('h2')), note: 'c' });
  expect(refused.text).toContain('another session of this client (codex 2)');

  await one.call('desk__write', { ...(await at('h3')), note: 'd', session: 'night' });
  const session = await one.call('desk__write', { ...(await at('h3')), note: 'e' });
  expect(session.text).toContain('the session "night" of this client');
  expect(Place.parse((await one.call('desk__read', { session: 'night' })).value).desk).toBe('h3');
  expect(Place.parse((await one.call('desk__read', {})).value).desk).toBe('h1');
});

test('a tab that an agent opens stays in the background, and is its own', async ({ closing }) => {
  const desks = await Desks.open(closing);
  const home = await desks.profile('ada', 'h1');
  const [codex, claude] = [await desks.agent('codex'), await desks.agent('claude-code')];
  const front = home.context.pages()[0];
  await front?.bringToFront();
  const opened = await codex.call('browser__open_tab', { url: desks.site.desk('h9') });
  expect(opened.failed).toBe(false);
  expect(await front?.evaluate(() => document.visibilityState)).toBe('visible');
  const tab = await desks.tab('h9');
  expect(tab).toMatchObject({ active: false, owner: { client: 'codex' } });
  expect((await claude.call('desk__write', { tabId: tab.tabId, note: 'a' })).code).toBe('TAB_OWNED');
  expect(Place.parse((await codex.call('desk__write', { note: 'b' })).value).desk).toBe('h9');
  expect((await desks.tab('h1')).active).toBe(true);
});

/** Gives the extension a permission that a person would give it in the panel: there is nobody to press the button. */
async function permit(extension: string, permission: string): Promise<void> {
  const file = path.join(extension, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8'));
  manifest.permissions.push(permission);
  await writeFile(file, JSON.stringify(manifest));
}

test('tabs with an owner are in a group with its name, and nothing else of the person changes', async ({
  closing,
}) => {
  const desks = await Desks.open(closing, {}, (relay) => permit(relay.extension, 'tabGroups'));
  const home = await desks.profile('ada', 'h1', 'h2', 'h3', 'h4', 'h5');
  const worker = home.context.serviceWorkers()[0] ?? (await home.context.waitForEvent('serviceworker'));
  const id = async (desk: string) => (await desks.tab(desk)).tabId;
  const [own, pinned] = [await id('h3'), await id('h4')];
  await worker.evaluate(
    async ([own, pinned]) => {
      await chrome.tabs.update(pinned, { pinned: true });
      const groupId = await chrome.tabs.group({ tabIds: [own] });
      await chrome.tabGroups.update(groupId, { title: 'mine' });
    },
    [own, pinned] as const,
  );
  /** The tabs in their order, each with the name of its group. */
  const strip = () =>
    worker.evaluate(async () => {
      const tabs = await chrome.tabs.query({});
      const titles = new Map(
        (await chrome.tabGroups.query({})).map(({ id, title, color }) => [id, { title, color }]),
      );
      return tabs.map(({ url, groupId, active, pinned }) => ({
        desk: url?.split('/').at(-1),
        group: titles.get(groupId)?.title ?? '',
        colored: titles.get(groupId)?.color !== undefined,
        active,
        pinned,
      }));
    });
  const groups = async () =>
    Object.fromEntries((await strip()).map(({ desk, group }) => [desk ?? '', group]));
  const before = (await strip()).find(({ active }) => active)?.desk;

  const codex = await desks.agent('codex');
  for (const desk of ['h1', 'h2', 'h3', 'h4'])
    expect((await codex.call('desk__write', { tabId: await id(desk), note: desk })).failed).toBe(false);
  await expect.poll(groups).toEqual({ h1: 'codex', h2: 'codex', h3: 'mine', h4: '', h5: '' });
  const claude = await desks.agent('claude-code');
  await claude.call('desk__write', { tabId: await id('h5'), note: 'b' });
  await expect.poll(groups).toMatchObject({ h5: 'claude-code' });
  const tabs = await strip();
  expect(tabs.find(({ active }) => active)?.desk).toBe(before);
  expect(tabs[0]).toMatchObject({ desk: 'h4', pinned: true });

  await desks.relay.person('tabs', 'release', String(await id('h1')));
  await expect.poll(groups).toMatchObject({ h1: '', h2: 'codex' });
  await codex.client.close();
  await expect.poll(groups).toEqual({ h1: '', h2: '', h3: 'mine', h4: '', h5: 'claude-code' });
});

test('without the permission there are no groups, and nothing fails', async ({ closing }) => {
  const desks = await Desks.open(closing);
  const home = await desks.profile('ada', 'h1');
  const worker = home.context.serviceWorkers()[0] ?? (await home.context.waitForEvent('serviceworker'));
  const codex = await desks.agent('codex');
  const { tabId } = await desks.tab('h1');
  expect((await codex.call('desk__write', { tabId, note: 'a' })).failed).toBe(false);
  expect((await codex.call('desk__write', { tabId, note: 'b' })).failed).toBe(false);
  expect(await worker.evaluate(async (tab) => (await chrome.tabs.get(tab)).groupId, tabId)).toBe(-1);
});

test('a tab that Chrome has put to sleep is woken in the background, and stays the one', async ({
  closing,
}) => {
  const desks = await Desks.open(closing);
  const home = await desks.profile('ada', 'h1', 'h2');
  const worker = home.context.serviceWorkers()[0] ?? (await home.context.waitForEvent('serviceworker'));
  const codex = await desks.agent('codex');
  const { tabId } = await desks.tab('h1');
  expect((await codex.call('desk__write', { tabId, note: 'a' })).failed).toBe(false);
  await worker.evaluate((tab) => chrome.tabs.discard(tab).then(() => undefined), tabId);
  const h1 = async () => (await desks.tabs()).find(({ url }) => url === desks.site.desk('h1'));
  await expect.poll(async () => (await h1())?.discarded).toBe(true);
  expect(Place.parse((await codex.call('desk__write', { note: 'b' })).value).desk).toBe('h1');
  await expect.poll(h1).toMatchObject({ discarded: false, active: false, owner: { client: 'codex' } });
});
