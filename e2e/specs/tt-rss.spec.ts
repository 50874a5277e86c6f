// An agent reads the news in the name of the person who signed in to Tiny Tiny RSS with its own form.

import { openReader, type Reader, signInToReader } from '../sites/tt-rss.ts';
import type { Answer } from '../stage/answer.ts';
import { Closing } from '../stage/closing.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

interface ReaderStage extends Stage {
  reader: Reader;
}

/** One reader and one browser for all: each test has a person of its own, and the last one breaks the reader. */
const people = ['ann', 'ben', 'cat', 'dan', 'eve', 'fay', 'gus', 'hal'];

const readerTest = test.extend<object, { readerStage: ReaderStage }>({
  readerStage: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const reader = await openReader(people, closing);
      const stage = await openStage(closing, {
        plugins: { 'tt-rss': { settings: { url: `${reader.url}/` } } },
      });
      await use({ ...stage, reader });
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

async function signIn({ page, reader, browser }: ReaderStage, name: string): Promise<void> {
  await browser.clearCookies();
  await signInToReader(page, reader, name);
}

const field = (answer: Answer, name: string): unknown => Reflect.get(Object(answer.value), name);

const call = async ({ agent }: ReaderStage, tool: string, args: Record<string, unknown> = {}) => {
  const answer = await agent.call(`tt-rss__${tool}`, args, { timeoutMs: 60_000 });
  expect(answer.failed, `${tool}: ${answer.text}`).toBe(false);
  return answer;
};

const failing = ({ agent }: ReaderStage, tool: string, args: Record<string, unknown> = {}) =>
  agent.call(`tt-rss__${tool}`, args, { timeoutMs: 60_000 });

const tea = {
  title: 'Tea & "biscuits"',
  html: '<h2>Both</h2><p>are <a href="https://tea.example/">good</a>.</p><script>alert(1)</script>',
  author: 'Ada',
  tags: ['food'],
};
const rain = { title: 'Rain', html: '<p>It rains.</p>' };

/** Subscribes to a feed of two articles, and fetches them. */
async function follow(stage: ReaderStage, name: string, news = [tea, rain]): Promise<number> {
  const url = stage.reader.news.feed(name, news);
  const feedId = Number(field(await call(stage, 'subscribe', { url }), 'feedId'));
  expect((await call(stage, 'update_feed', { feedId })).value).toMatchObject({
    name,
    newUnread: news.length,
  });
  return feedId;
}

/** The ids of the articles of a list, by title. */
async function articles(
  stage: ReaderStage,
  args: Record<string, unknown> = {},
): Promise<Map<string, number>> {
  const list = field(await call(stage, 'list_news', { only: 'all', ...args }), 'articles');
  if (!Array.isArray(list)) throw new Error('no list');
  return new Map(list.map((one) => [Reflect.get(one, 'title'), Reflect.get(one, 'id')]));
}

readerTest('signed out every tool is AUTH_ERROR with the address to sign in', async ({ readerStage }) => {
  const { agent, reader } = readerStage;
  await visit(readerStage, `${reader.url}/`);
  const url = 'http://192.0.2.10/x.xml';
  for (const [tool, args] of Object.entries({
    overview: {},
    list_news: {},
    read_news: { id: 1 },
    list_feeds: {},
    read_feed: { feedId: 1 },
    list_categories: {},
    list_labels: {},
    list_filters: {},
    preview_filter: { pattern: 'x' },
    export_opml: {},
    mark_news: { ids: [1], as: 'read' },
    publish_news: { ids: [1] },
    label_news: { ids: [1], labelId: 1 },
    set_note: { id: 1, note: 'x' },
    set_tags: { id: 1, tags: ['x'] },
    create_label: { name: 'x' },
    subscribe: { url },
    update_feed: { feedId: 1 },
    edit_feed: { feedId: 1, name: 'x' },
    create_category: { name: 'x' },
    rename_category: { categoryId: 1, name: 'x' },
    catch_up: { special: 'all', olderThan: 'any' },
    unsubscribe: { feedId: 1 },
    remove_category: { categoryId: 1 },
  })) {
    const answer = await agent.call(`tt-rss__${tool}`, args);
    expect(answer.pageFields, tool).toEqual({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
    expect(answer.facts.outcome).toBe('not_executed');
    expect(answer.text).toContain(`${reader.url}/index.php`);
  }
});

readerTest('articles are listed, found and read, and stay unread', async ({ readerStage }) => {
  await signIn(readerStage, 'ann');
  const feedId = await follow(readerStage, 'Daily');
  expect((await call(readerStage, 'overview')).value).toMatchObject({
    unread: 2,
    fresh: 2,
    starred: 0,
    failing: 0,
    feeds: [{ id: feedId, name: 'Daily', category: 'Uncategorized', unread: 2 }],
  });
  const first = await call(readerStage, 'list_news', { limit: 1, order: 'newest' });
  expect(first.value).toEqual({
    articles: [
      {
        ...{ id: expect.any(Number), title: 'Rain', feedId, feed: 'Daily', date: expect.any(String) },
        ...{ excerpt: 'It rains.', unread: true },
      },
    ],
    nextOffset: 1,
  });
  const rest = await call(readerStage, 'list_news', { offset: 1, order: 'newest', feedId });
  expect(rest.value).toEqual({ articles: [expect.objectContaining({ title: tea.title })] });
  for (const query of ['good', 'title:tea', 'author:ada'])
    expect([...(await articles(readerStage, { query })).keys()]).toEqual([tea.title]);
  const id = (await articles(readerStage, { query: 'tea' })).get(tea.title);
  expect((await call(readerStage, 'read_news', { id })).value).toMatchObject({
    title: tea.title,
    feed: 'Daily',
    author: 'Ada',
    link: 'http://192.0.2.10/Daily/0',
    tags: ['food'],
    labels: [],
    note: '',
    text: '## Both\n\nare good.',
  });
  expect((await call(readerStage, 'read_news', { id, links: true })).text).toContain(
    '](https://tea.example/)',
  );
  expect(await articles(readerStage, { only: 'unread' })).toHaveProperty('size', 2);
});

readerTest('how articles are listed does not change what the person sees', async ({ readerStage }) => {
  const { page, reader } = readerStage;
  await signIn(readerStage, 'ben');
  await follow(readerStage, 'Weekly');
  await Promise.all([
    call(readerStage, 'list_news', { only: 'starred', order: 'title' }),
    call(readerStage, 'list_news', { only: 'unread', order: 'oldest' }),
    call(readerStage, 'list_news', { only: 'all' }),
  ]);
  const opened = page.waitForResponse(
    (response) => response.request().postData()?.includes('method=sanityCheck') ?? false,
  );
  await page.goto(`${reader.url}/index.php`);
  const { 'init-params': params } = await (await opened).json();
  expect(params).toMatchObject({ default_view_mode: 'adaptive', default_view_order_by: 'default' });
});

readerTest('articles are marked, starred, published, tagged, labelled and noted', async ({ readerStage }) => {
  await signIn(readerStage, 'cat');
  const feedId = await follow(readerStage, 'Marks');
  const ids = await articles(readerStage, { feedId });
  const [id, other] = [ids.get(tea.title), ids.get(rain.title)];
  const unread = async () => [...(await articles(readerStage, { only: 'unread' })).keys()];
  expect((await call(readerStage, 'mark_news', { ids: [id], as: 'read' })).value).toEqual({ changed: 1 });
  expect(await unread()).toEqual([rain.title]);
  await call(readerStage, 'mark_news', { ids: [id, other], as: 'unread' });
  expect(await unread()).toHaveLength(2);
  await call(readerStage, 'mark_news', { ids: [id, other], as: 'starred' });
  await call(readerStage, 'mark_news', { ids: [other], as: 'unstarred' });
  expect([...(await articles(readerStage, { special: 'starred' })).keys()]).toEqual([tea.title]);
  await call(readerStage, 'publish_news', { ids: [id, other] });
  await call(readerStage, 'publish_news', { ids: [id], published: false });
  expect([...(await articles(readerStage, { only: 'published' })).keys()]).toEqual([rain.title]);

  const tagged = await call(readerStage, 'set_tags', { id, tags: ['Tea', 'a', 'b', 'c', 'd', 'e'] });
  expect(tagged.value).toEqual({ id, tags: ['a', 'b', 'c', 'd', 'e', 'tea'] });
  expect((await call(readerStage, 'set_note', { id, note: 'a < b & "c" <b>d</b>' })).value).toMatchObject({
    id,
  });
  const label = await call(readerStage, 'create_label', { name: 'To read' });
  const labelId = field(label, 'id');
  expect((await call(readerStage, 'label_news', { ids: [id, other], labelId })).value).toEqual({
    changed: 2,
    label: 'To read',
  });
  await call(readerStage, 'label_news', { ids: [other], labelId, labelled: false });
  expect([...(await articles(readerStage, { labelId })).keys()]).toEqual([tea.title]);
  expect((await call(readerStage, 'list_labels')).value).toEqual({
    total: 1,
    labels: [{ id: labelId, name: 'To read', articles: 1, unread: 1 }],
  });
  expect((await call(readerStage, 'read_news', { id })).value).toMatchObject({
    tags: ['a', 'b', 'c', 'd', 'e', 'tea'],
    labels: ['To read'],
    note: 'a < b & "c" <b>d</b>',
  });
  expect([...(await articles(readerStage, { only: 'with_note' })).keys()]).toEqual([tea.title]);
  expect((await failing(readerStage, 'create_label', { name: 'To read' })).code).toBe('LABEL_EXISTS');
  expect((await call(readerStage, 'set_tags', { id, tags: [] })).value).toEqual({ id, tags: [] });
});

readerTest('catching up is bounded by place and age', async ({ readerStage }) => {
  await signIn(readerStage, 'dan');
  const feedId = await follow(readerStage, 'Bounded');
  await follow(readerStage, 'Other');
  const catchUp = (args: Record<string, unknown>) => call(readerStage, 'catch_up', args);
  expect((await catchUp({ feedId, olderThan: 'day' })).value).toEqual({ marked: 0, unread: 4 });
  expect((await catchUp({ feedId, olderThan: 'any' })).value).toEqual({ marked: 2, unread: 2 });
  for (const args of [{}, { feedId, special: 'all' }]) {
    const refused = await failing(readerStage, 'catch_up', { ...args, olderThan: 'any' });
    expect(refused.code).toBe('VALIDATION_ERROR');
  }
  expect((await catchUp({ special: 'all', olderThan: 'any' })).value).toEqual({ marked: 2, unread: 0 });
});

readerTest('feeds and categories are looked after', async ({ readerStage }) => {
  const { reader } = readerStage;
  await signIn(readerStage, 'eve');
  const category = await call(readerStage, 'create_category', { name: 'Nwes' });
  const categoryId = field(category, 'id');
  expect((await call(readerStage, 'rename_category', { categoryId, name: 'News' })).value).toEqual({
    id: categoryId,
    name: 'News',
  });
  expect((await failing(readerStage, 'create_category', { name: 'News' })).code).toBe('CATEGORY_EXISTS');
  const feedId = await follow(readerStage, 'Edited');
  const second = await follow(readerStage, 'Second');
  const url = reader.news.feed('Moved', [tea]);
  const edited = { feedId, name: 'Renamed', url, categoryId, updateEvery: 'daily' };
  expect((await call(readerStage, 'edit_feed', edited)).value).toMatchObject({
    ...{ id: feedId, name: 'Renamed', url, siteUrl: 'http://192.0.2.10/' },
    ...{ categoryId, category: 'News', updateEvery: 'daily' },
  });
  expect((await call(readerStage, 'edit_feed', { feedId, updateEvery: 'never' })).value).toMatchObject({
    ...{ name: 'Renamed', url, categoryId, updateEvery: 'never' },
  });
  expect((await failing(readerStage, 'edit_feed', { feedId: second, url })).code).toBe('ALREADY_SUBSCRIBED');
  expect((await call(readerStage, 'list_feeds', { categoryId })).value).toMatchObject({
    total: 1,
    feeds: [{ id: feedId, name: 'Renamed', category: 'News', unread: 2, paused: true }],
  });
  expect((await call(readerStage, 'list_categories')).value).toEqual({
    total: 2,
    categories: [
      { id: categoryId, name: 'News', feeds: 1, unread: 2 },
      { id: 0, name: 'Uncategorized', feeds: 1, unread: 2 },
    ],
  });
  expect((await call(readerStage, 'export_opml')).text).toContain('xmlUrl=\\"http://192.0.2.10/Moved.xml\\"');
  expect((await call(readerStage, 'remove_category', { categoryId })).value).toEqual({
    removed: 'News',
    feeds: 1,
  });
  expect((await call(readerStage, 'list_feeds', { categoryId: 0 })).value).toMatchObject({ total: 2 });
  expect((await call(readerStage, 'unsubscribe', { feedId: second })).value).toEqual({ removed: 'Second' });
  expect((await call(readerStage, 'list_feeds')).value).toMatchObject({ total: 1 });
});

readerTest('what cannot be subscribed to or fetched says why', async ({ readerStage }) => {
  const { reader } = readerStage;
  await signIn(readerStage, 'fay');
  const subscribed = await follow(readerStage, 'Broken');
  const same = await failing(readerStage, 'subscribe', { url: 'http://192.0.2.10/Broken.xml' });
  expect(same.code).toBe('ALREADY_SUBSCRIBED');
  expect(same.text).toContain(String(subscribed));
  const absent = await failing(readerStage, 'subscribe', { url: 'http://192.0.2.10/none.xml' });
  expect(absent.pageFields).toEqual({ code: 'FEED_UNREACHABLE', category: 'internal', retryable: false });
  expect(absent.facts.outcome).toBe('not_executed');
  expect(absent.text).toContain('404 Not Found');
  const down = reader.news.page('/down.xml', 'no', 'text/plain', 503);
  expect((await failing(readerStage, 'subscribe', { url: down })).pageFields).toEqual({
    ...{ code: 'FEED_UNREACHABLE', category: 'internal', retryable: true, retryAfterMs: 60_000 },
  });
  const none = reader.news.page('/none', '<!DOCTYPE html><html><body>Nothing here</body></html>');
  expect((await failing(readerStage, 'subscribe', { url: none })).code).toBe('NO_FEED_FOUND');
  const link = (name: string) =>
    `<link rel="alternate" type="application/rss+xml" title="${name}" href="/${name}.xml">`;
  const two = reader.news.page(
    '/two',
    `<!DOCTYPE html><html><head>${link('One')}${link('Two')}</head></html>`,
  );
  const several = await failing(readerStage, 'subscribe', { url: two });
  expect(several.code).toBe('SEVERAL_FEEDS');
  expect(several.text).toContain('http://192.0.2.10/Two.xml');
  expect((await failing(readerStage, 'subscribe', { url: 'ftp://x' })).failed).toBe(true);

  const late = reader.news.feed('Late', [tea]);
  const feedId = field(await call(readerStage, 'subscribe', { url: late }), 'feedId');
  reader.news.page('/Late.xml', 'gone', 'text/plain', 500);
  const failed = await failing(readerStage, 'update_feed', { feedId });
  expect(failed.pageFields).toMatchObject({ code: 'FEED_UNREACHABLE', retryable: true });
  expect(failed.text).toContain('500 Internal Server Error');
  expect((await call(readerStage, 'list_feeds', { only: 'failing' })).value).toMatchObject({
    total: 1,
    feeds: [{ id: feedId, error: expect.stringContaining('500') }],
  });
  expect((await call(readerStage, 'overview')).value).toMatchObject({ failing: 1 });
  for (const [tool, args] of [
    ['read_news', { id: 999 }],
    ['mark_news', { ids: [999], as: 'read' }],
    ['publish_news', { ids: [999] }],
    ['set_note', { id: 999, note: 'x' }],
    ['set_tags', { id: 999, tags: ['x'] }],
    ['label_news', { ids: [1], labelId: 999 }],
    ['list_news', { feedId: 999 }],
    ['list_news', { labelId: 999 }],
    ['list_news', { categoryId: 999 }],
    ['list_feeds', { categoryId: 999 }],
    ['read_feed', { feedId: 999 }],
    ['edit_feed', { feedId: 999, name: 'x' }],
    ['update_feed', { feedId: 999 }],
    ['unsubscribe', { feedId: 999 }],
    ['subscribe', { url: down, categoryId: 999 }],
    ['rename_category', { categoryId: 999, name: 'x' }],
    ['remove_category', { categoryId: 999 }],
    ['catch_up', { feedId: 999, olderThan: 'any' }],
  ] as const) {
    const { pageFields } = await failing(readerStage, tool, args);
    expect(pageFields, tool).toEqual({ code: 'NOT_FOUND', category: 'not_found', retryable: false });
  }
});

readerTest('filters are listed and tried', async ({ readerStage }) => {
  const { page, reader } = readerStage;
  await signIn(readerStage, 'gus');
  const feedId = await follow(readerStage, 'Filtered');
  expect((await call(readerStage, 'preview_filter', { pattern: '^r.in$' })).value).toMatchObject({
    matches: [{ title: 'Rain', feed: 'Filtered' }],
    totalMatches: 1,
  });
  const inverse = { pattern: 'rain', inverse: true, feedId };
  expect((await call(readerStage, 'preview_filter', inverse)).value).toMatchObject({
    matches: [{ title: tea.title }],
  });
  expect((await failing(readerStage, 'preview_filter', { pattern: 'te(a' })).code).toBe('VALIDATION_ERROR');
  expect((await call(readerStage, 'list_filters')).value).toEqual({ total: 0, filters: [] });
  // What the dialog of the preferences sends.
  await page.goto(`${reader.url}/prefs.php`);
  await page.evaluate(async () => {
    const token = /__csrf_token = "(\w+)"/.exec(document.documentElement.innerHTML)?.[1] ?? '';
    const form = { op: 'pref-filters', method: 'add', enabled: 'on', title: 'Tea', csrf_token: token };
    const body = new URLSearchParams(form);
    body.append('rule[]', '{"reg_exp":"tea","filter_type":"1","feed_id":["0"]}');
    body.append('action[]', '{"action_id":"3","action_param":""}');
    await fetch('backend.php', { method: 'POST', body });
  });
  expect((await call(readerStage, 'list_filters')).value).toMatchObject({
    total: 1,
    filters: [
      { name: 'Tea (1 rule)', rules: ['tea on Title in All feeds'], does: 'Set starred', enabled: true },
    ],
  });
});

readerTest(
  'another session and one that ends are noticed while the page stays open',
  async ({ readerStage }) => {
    const { browser, page, reader } = readerStage;
    await signIn(readerStage, 'hal');
    const feedId = await follow(readerStage, 'Session');
    // The person signs in anew in another tab: the token that is known is not taken any more.
    await browser.clearCookies();
    const other = await page.context().newPage();
    await signInToReader(other, reader, 'hal');
    await other.close();
    expect((await call(readerStage, 'edit_feed', { feedId, name: 'Once' })).value).toMatchObject({
      name: 'Once',
    });
    await browser.clearCookies();
    for (const [tool, args] of [
      ['overview', {}],
      ['list_news', {}],
      ['edit_feed', { feedId, name: 'Twice' }],
    ] as const) {
      const answer = await failing(readerStage, tool, args);
      expect(answer.pageFields, tool).toMatchObject({ code: 'AUTH_ERROR', category: 'auth' });
      expect(answer.facts.outcome, tool).toBe('not_executed');
      expect(answer.text).toContain(`${reader.url}/index.php`);
    }
  },
);

readerTest('without its database it is SITE_ERROR', async ({ readerStage }) => {
  const { reader } = readerStage;
  await signIn(readerStage, 'hal');
  await reader.loseDatabase();
  const answer = await failing(readerStage, 'overview');
  expect(answer.pageFields).toMatchObject({ category: 'internal', retryable: true });
});
