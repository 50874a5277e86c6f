// Browsers that `tabrelay up --profile NAME` starts: one relay, and cookies of its own for each.

import { access, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { openSite } from '../sites/own-pages.ts';
import { type Agent, stdioAgent } from '../stage/agent.ts';
import { openBrowser } from '../stage/browser.ts';
import { newHome } from '../stage/new-home.ts';
import { workerOf } from '../stage/notifications.ts';
import { expect, test } from '../stage/test.ts';

const shop = `<title>Shop</title><h1></h1><script>
  if (location.hash) document.cookie = 'who=' + location.hash.slice(1) + '; max-age=3600';
  document.querySelector('h1').textContent = 'Signed in as ' + (document.cookie.split('who=')[1] ?? 'nobody');
</script>`;

/** What the site shows to an agent in a profile. */
async function shown(agent: Agent, url: string, profile: string): Promise<string> {
  const opened = await agent.call('browser__open_tab', { url, profile });
  expect(opened.failed, opened.text).toBe(false);
  const read = await agent.call('browser__snapshot');
  expect(read.failed, read.text).toBe(false);
  return /Signed in as \w+/.exec(read.texts.join())?.[0] ?? read.text;
}

test('each has its own cookies, by its name; down and up close one and bring back all', async ({
  closing,
}) => {
  const relay = await newHome(closing);
  closing.defer(() => relay.tabrelay('down'));
  const up = (...flags: string[]) => relay.tabrelay('up', ...flags);
  const profiles = async () =>
    (await relay.profiles()).filter((one) => one.connected).map((one) => one.label);
  expect(await up('--profile', 'shopping')).toContain('Hello');
  expect(await profiles()).toEqual(['shopping']);
  expect(await up('--profile', 'work')).toContain('Hello');
  expect(await up('--browser', 'managed')).toContain('Hello'); // the one without a name
  const three = ['Chrome', 'shopping', 'work'];
  const words = async () =>
    (await profiles()).map((label) => label.replace(/^Chrome \w{4}$/, 'Chrome')).sort();
  expect(await words()).toEqual(three);
  const before = await relay.profiles();

  const site = await openSite(closing, { '': shop });
  const [ann, bob, eve] = [
    await stdioAgent(relay, closing),
    await stdioAgent(relay, closing),
    await stdioAgent(relay, closing),
  ];
  const nameless = (await profiles()).find((label) => label.startsWith('Chrome ')) ?? '';
  expect(await shown(ann, `${site}/#Ada`, 'shopping')).toBe('Signed in as Ada');
  expect(await shown(bob, `${site}/#Bea`, 'work')).toBe('Signed in as Bea');
  expect(await shown(eve, `${site}/`, nameless)).toBe('Signed in as nobody');
  expect(await shown(ann, `${site}/`, 'shopping')).toBe('Signed in as Ada');

  // Chromium writes cookies down within half a minute.
  const written = path.join(relay.home, 'browser/named/work/profile/Default/Cookies');
  const kept = async () => (await readFile(written, 'latin1')).includes('who');
  await expect.poll(kept, { timeout: 60_000 }).toBe(true);

  // One is closed, and the calls for it go nowhere else.
  await relay.tabrelay('down', '--profile', 'work');
  await expect.poll(words).toEqual(['Chrome', 'shopping']);
  const lost = await bob.call('browser__snapshot');
  expect(lost.failed).toBe(true);
  expect(lost.texts.join()).not.toContain('Ada');
  expect(await up('--profile', 'work')).toContain('Hello');
  expect(await shown(bob, `${site}/`, 'work')).toBe('Signed in as Bea');

  // All are closed with the relay, and are what they were when they are back.
  await relay.tabrelay('down');
  await up();
  expect(await words()).toEqual(three);
  expect((await relay.profiles()).map((one) => one.id).sort()).toEqual(before.map((one) => one.id).sort());
  expect(await shown(ann, `${site}/`, 'shopping')).toBe('Signed in as Ada');

  // One that is not used any more goes with its folder, and does not come back.
  const named = path.join(relay.home, 'browser', 'named');
  await expect(relay.tabrelay('profiles', 'forget', 'work', '--yes')).rejects.toThrow('is connected');
  await relay.tabrelay('down', '--profile', 'work');
  await expect.poll(words).toEqual(['Chrome', 'shopping']);
  await expect(relay.tabrelay('profiles', 'forget', 'work')).rejects.toThrow('nothing was forgotten');
  expect(await readdir(named)).toEqual(['shopping', 'work']);
  await relay.tabrelay('profiles', 'forget', 'work', '--yes');
  await expect(access(path.join(named, 'work'))).rejects.toThrow('ENOENT');
  await up();
  expect(await words()).toEqual(['Chrome', 'shopping']);
});

test('one that is killed is told of as ended, while the other goes on', async ({ closing }) => {
  const relay = await newHome(closing);
  closing.defer(() => relay.tabrelay('down'));
  await relay.tabrelay('up', '--profile', 'shopping');
  await relay.tabrelay('up', '--profile', 'work');
  const agent = await stdioAgent(relay, closing);
  const record = await readFile(path.join(relay.home, 'browser/named/work/browser.json'), 'utf8');
  process.kill(-z.object({ pid: z.number() }).parse(JSON.parse(record)).pid, 'SIGKILL'); // with what it started
  await expect.poll(() => relay.browsers()).toBe(1);
  const lost = await agent.call('demo__hello', { profile: 'work' });
  expect(lost.failed).toBe(true);
  expect(lost.texts.join()).toContain('tabrelay up');
  expect((await agent.call('demo__hello', { profile: 'shopping' })).failed).toBe(false);
  expect(await relay.tabrelay('up')).toContain('Hello');
  expect(await relay.browsers()).toBe(2);
});

test("a page cannot name a person's profile, nor a person's profile be taken for one", async ({
  stage,
  closing,
}) => {
  const { relay } = stage;
  const worker = await workerOf(stage.browser);
  const site = await openSite(closing, { '': '<title>Forger</title>' });
  const page = await stage.browser.newPage();
  await page.goto(`${site}/`);
  await page.evaluate(() => void window.open('data:,tabrelay-profile=shopping'));
  await worker.evaluate(() => chrome.storage.local.remove('profile'));
  await relay.down();
  await relay.start();
  await expect.poll(() => relay.browsers()).toBe(1);
  const [own] = await relay.profiles();
  expect(own?.label).not.toBe('shopping');

  const second = await openBrowser(relay, closing);
  await expect.poll(() => relay.browsers()).toBe(2);
  await (await workerOf(second)).evaluate(async () => {
    const { profile } = await chrome.storage.local.get<{ profile: object }>('profile');
    await chrome.storage.local.set({ profile: { ...profile, label: 'shopping' } });
  });
  await relay.down();
  await relay.start();
  await expect.poll(async () => (await relay.profiles()).map((one) => one.label)).toContain('shopping');
  await expect(relay.tabrelay('up', '--profile', 'shopping')).rejects.toThrow('which tabrelay did not start');
});
