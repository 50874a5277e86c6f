// A person clicks through a task, and a plugin comes of it that does the same.

import path from 'node:path';
import type { Page } from '@playwright/test';
import { z } from 'zod';
import { openTeamWiki, signInToWiki } from '../sites/dokuwiki.ts';
import { openPocketBase, superuser } from '../sites/pocketbase.ts';
import { type Blog, blogPassword, openBlog, signInToBlog } from '../sites/wordpress.ts';
import { stopWorker } from '../stage/browser.ts';
import { Closing } from '../stage/closing.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { type Recorded, record, written } from '../stage/recording.ts';
import { openPanel } from '../stage/side-panel.ts';
import { atTerminal } from '../stage/terminal.ts';
import { expect, openStage, type Stage, test } from '../stage/test.ts';

const Post = z.object({ id: z.number() });
const Session = z.object({ token: z.string() });
const Listed = z.object({ tabs: z.array(z.object({ tabId: z.number(), url: z.string() })) });

interface BlogStage extends Stage {
  blog: Blog;
}

const blogTest = test.extend<object, { blogStage: BlogStage }>({
  blogStage: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const blog = await openBlog(closing);
      const stage = await openStage(closing);
      await use({ ...stage, blog });
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

/** The tab that is recorded: the one that the terminal opened. */
async function recordedTab({ browser }: Stage, url: string): Promise<Page> {
  const find = () => browser.pages().findLast((page) => page.url().startsWith(url));
  await expect.poll(() => find() !== undefined).toBe(true);
  const page = find();
  if (page === undefined) throw new Error('the tab is gone');
  return page;
}

const hasReloaded = (): boolean => {
  const [navigation] = performance.getEntriesByType('navigation');
  return (
    navigation instanceof PerformanceNavigationTiming &&
    navigation.type === 'reload' &&
    document.readyState === 'complete'
  );
};

blogTest('WordPress: what the editor and a form do becomes tools that do it', async ({ blogStage }) => {
  const { agent, blog, closing, relay } = blogStage;
  await signInToBlog(blogStage.page, blogStage.blog, 'Alice');
  const address = `${blog.url}/wp-admin/options-general.php`;
  const recorded = await record(relay, closing, 'my-blog', address);
  const page = await recordedTab(blogStage, address);
  await page.getByLabel('Tagline').fill('Recorded by Alice');
  await page.getByRole('button', { name: 'Save Changes' }).click();
  await expect(page.getByText('Settings saved.')).toBeVisible();
  await page.goto(`${blog.url}/wp-admin/post-new.php`);
  await page.getByRole('button', { name: 'Close dialog' }).click();
  const framed = (await page.locator('iframe[name="editor-canvas"]').count()) > 0;
  const canvas = framed ? page.frameLocator('iframe[name="editor-canvas"]') : page;
  const title = canvas.getByRole('textbox', { name: 'Add title' });
  await title.fill('A secret plan of Alice');
  const saved = page.waitForResponse(
    (response) =>
      response.request().method() === 'POST' && decodeURIComponent(response.url()).includes('/wp/v2/posts/'),
  );
  await page.getByRole('button', { name: 'Save draft' }).click();
  const answer = await saved;
  expect(answer.status()).toBe(200);
  const nonce = answer.request().headers()['x-wp-nonce'] ?? '';
  expect(nonce).not.toBe('');
  const { id } = Post.parse(await answer.json());
  await recorded.finish();
  await adopt(blogStage, recorded, [nonce, blogPassword, 'Recorded by', 'secret plan', 'Alice']);

  const renamed = { postId: id, id, title: 'Renamed by a draft', content: '', status: 'draft' };
  expect((await agent.call('my-blog__update_post', renamed)).value).toMatchObject({ id, status: 'draft' });
  const settings = { blogdescription: 'Set by a draft' };
  const said = await agent.call('my-blog__update_options', settings);
  expect(said.value).toMatchObject({ text: expect.stringContaining('Settings saved.') });
  await page.goto(address);
  await expect(page.getByLabel('Tagline')).toHaveValue('Set by a draft');
});

test('PocketBase: what the dashboard asks becomes tools with its token', async ({ stage }) => {
  const { agent, closing, relay, page } = stage;
  const pocketbase = await openPocketBase(closing);
  await page.goto(`${pocketbase.dashboard}#/login`);
  await page.getByLabel('Email').fill(superuser.email);
  await page.getByLabel('Password').fill(superuser.password);
  await page.getByRole('button', { name: 'Login' }).click();
  await expect(page.getByRole('button', { name: 'New collection' })).toBeVisible();
  const kept = await page.evaluate(() => localStorage.getItem('__pb_superuser_auth__'));
  const { token } = Session.parse(JSON.parse(kept ?? ''));
  const recorded = await record(relay, closing, 'my-base', pocketbase.dashboard);
  const tab = await recordedTab(stage, pocketbase.dashboard);
  await tab.getByText('authors', { exact: true }).first().click();
  await tab.getByRole('button', { name: 'New record' }).first().click();
  await tab.getByLabel('name').fill('Ursula of Berkeley');
  await tab.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(tab.getByText('Ursula of Berkeley').first()).toBeVisible();
  await recorded.finish();
  await adopt(stage, recorded, [token, superuser.email, superuser.password, 'Ursula', 'Berkeley']);

  const author = { collectionId: 'authors', name: 'Called by a draft' };
  expect((await agent.call('my-base__create_collection_record', author)).value).toMatchObject({
    name: author.name,
  });
  expect(await pocketbase.send('GET', 'collections/authors/records')).toMatchObject({
    items: expect.arrayContaining([expect.objectContaining({ name: author.name })]),
  });
});

test('DokuWiki: the button that was pressed is pressed in the form that is meant', async ({ stage }) => {
  const { agent, closing, relay, page } = stage;
  const wiki = await openTeamWiki(closing);
  await signInToWiki(page, wiki, 'alice');
  const recorded = await record(relay, closing, 'my-wiki', wiki.page('start'));
  const tab = await recordedTab(stage, wiki.page('start'));
  await expect.poll(() => recorded.program.output()).toContain('GET /doku.php');
  // The recording begins with a reload, which is over later than it is told.
  await expect.poll(() => tab.evaluate(hasReloaded).catch(() => false)).toBe(true);
  await tab.goto(wiki.page('teas:green'));
  await tab.locator('a.action.create, .create a').first().click();
  await tab.locator('#wiki__text').fill('Sencha of Uji');
  await tab.locator('#edbtn__save').click();
  await expect(tab.getByText('Sencha of Uji')).toBeVisible();
  await recorded.finish();
  await adopt(stage, recorded, ['Sencha', 'Uji']);

  await agent.call('my-wiki__edit_doku', {
    id: 'teas:green',
    wikitext: 'Saved by a draft',
    summary: '',
  });
  expect(await (await wiki.as('alice')).revisions('teas:green')).toHaveLength(2);
});

test('a recording says in the tab that it runs, and ends when the tab goes to another site', async ({
  sharedStage: stage,
}) => {
  const { browser, closing, demo, relay } = stage;
  const recorded = await record(relay, closing, 'gone', demo.url);
  const tab = await recordedTab(stage, demo.url);
  const badge = () =>
    browser.serviceWorkers()[0]?.evaluate(async (url) => {
      const [found] = await chrome.tabs.query({ url: `${url}/*`, active: true });
      return found?.id === undefined ? '' : chrome.action.getBadgeText({ tabId: found.id });
    }, demo.url);
  await expect.poll(badge).toBe('REC');
  await expect(tab.locator('html > div[aria-hidden=true]')).toHaveCount(1);
  await tab.goto(demo.url.replace('127.0.0.1', 'localhost'));
  await recorded.program.ended;
  expect(recorded.program.output()).toContain('The tab went to another site');
  await expect(tab.locator('html > div[aria-hidden=true]')).toHaveCount(0);
});

test('an Enter typed while the question is open in the panel does not end the recording', async ({
  sharedStage: stage,
}) => {
  const { browser, closing, demo, relay } = stage;
  const panel = await openPanel(browser);
  const folder = path.join(await temporaryFolder('draft', closing), 'later');
  const args = ['plugin', 'record', 'later', '--url', `${demo.url}/`, '--dir', folder];
  const program = atTerminal(relay, closing, args);
  await expect(panel.getByRole('button', { name: 'Allow' })).toBeVisible();
  program.type('\n');
  await panel.getByRole('button', { name: 'Allow' }).click();
  await expect.poll(() => program.output()).toContain('GET /');
  program.type('\n');
  expect(await program.ended, program.output()).toBe(0);
});

test('nothing is recorded unless the person agrees', async ({ sharedStage: stage }) => {
  const { closing, demo, relay } = stage;
  const program = atTerminal(relay, closing, ['plugin', 'record', 'no', '--url', demo.url], 'no\n');
  expect(await program.ended).toBe(1);
  expect(program.output()).not.toContain('Recording tab');
});

/** The draft is clean, its fixtures pass, nothing that is secret or was typed is in it; then it is added. */
async function adopt({ relay }: Stage, { folder }: Recorded, secrets: readonly string[]): Promise<void> {
  await relay.tabrelay('plugin', 'check', '--strict', folder);
  await relay.tabrelay('plugin', 'test', '--browser', folder);
  for (const [file, text] of await written(folder))
    for (const secret of secrets) expect(text.includes(secret), `${file} has ${secret}`).toBe(false);
  await relay.tabrelay('plugin', 'add', folder);
}

/** What the toolbar shows for a recorded tab: the worker may have just been started for it. */
async function badges({ browser }: Stage): Promise<string[]> {
  const worker = browser.serviceWorkers()[0] ?? (await browser.waitForEvent('serviceworker'));
  return worker.evaluate(async () => {
    const tabs = await chrome.tabs.query({});
    const texts = tabs.map(({ id = -1 }) => chrome.action.getBadgeText({ tabId: id }));
    return (await Promise.all(texts)).filter((text) => text === 'REC');
  });
}

interface Ending {
  end(stage: Stage, recorded: Recorded): Promise<unknown>;
  says: string;
}

const endings: Record<string, Ending> = {
  'the worker dies': {
    end: ({ browser }) => stopWorker(browser),
    says: 'the recording broke off',
  },
  'the tab is closed': {
    end: async (stage) => (await recordedTab(stage, `${stage.demo.url}/`)).close(),
    says: 'The tab was closed.',
  },
  'the panel stops it': {
    end: async ({ browser, demo }) => {
      const panel = await openPanel(browser);
      const row = panel.getByRole('list', { name: 'Recordings' });
      await expect(row).toContainText(/Records this tab · [1-9][0-9]* requests? seen/);
      await expect(row).toContainText(new URL(demo.url).host);
      await row.getByRole('button', { name: 'Stop recording' }).click();
    },
    says: 'The recording was ended in the side panel.',
  },
  'Ctrl-C is pressed': {
    end: async (_, { program }) => program.type('\x03'),
    says: 'fixtures pass',
  },
};

/** Endings after which the relay is gone, or its agents stay stopped. */
const lastEndings: Record<string, Ending> = {
  'everything is stopped': {
    end: async ({ browser }) => {
      const panel = await openPanel(browser);
      await panel.getByRole('button', { name: 'Stop everything' }).click();
    },
    says: '“Stop everything” ended the recording. The draft is made from what was seen until then',
  },
  'the relay is killed': {
    end: ({ relay }) => relay.stop('SIGKILL'),
    says: 'the recording broke off',
  },
};

async function ended(stage: Stage, { end, says }: Ending): Promise<void> {
  const { closing, demo, relay } = stage;
  const recorded = await record(relay, closing, 'ended', `${demo.url}/`);
  await expect.poll(() => badges(stage)).toEqual(['REC']);
  await expect.poll(() => recorded.program.output()).toContain('GET /');
  await end(stage, recorded);
  await expect.poll(() => recorded.program.output()).toContain(says);
  await recorded.program.ended;
  await expect.poll(() => badges(stage)).toEqual([]);
}

const title = (name: string) => `a recording ends when ${name}, and no badge stays`;

for (const [name, ending] of Object.entries(endings))
  test(title(name), ({ sharedStage }) => ended(sharedStage, ending));

for (const [name, ending] of Object.entries(lastEndings))
  test(title(name), ({ stage }) => ended(stage, ending));

test('a tab that is open is recorded from then on', async ({ stage }) => {
  const { closing, page, relay } = stage;
  const folder = path.join(await temporaryFolder('draft', closing), 'open');
  const listed = Listed.parse(JSON.parse(await relay.tabrelay('tabs', '--json')));
  const tab = String(listed.tabs.find(({ url }) => url === page.url())?.tabId);
  const args = ['plugin', 'record', 'open', '--tab', tab, '--dir', folder];
  const program = atTerminal(relay, closing, args, 'yes\n');
  await expect.poll(() => program.output()).toContain(`Recording tab ${tab}`);
  // Chrome asks for the icon at a moment of its choosing, and the page for its counter again and again.
  const asked = /GET \/(?!favicon\.ico|api\/counters)/;
  expect(program.output()).not.toMatch(asked);
  await page.reload();
  await expect.poll(() => program.output()).toMatch(asked);
  program.type('\n');
  expect(await program.ended, program.output()).toBe(0);
  expect([...(await written(folder)).keys()]).toContain('src/index.ts');
});
