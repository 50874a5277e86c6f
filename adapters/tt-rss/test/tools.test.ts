import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { jsonReader } from '@tabrelay/plugin-sdk/json';
import { failureOf, type Recording, type Session, tapeTest } from '../../cookie-tape.ts';
import { attachmentsOf, statesOf } from '../src/articles.ts';
import '../src/index.ts'; // what the plugin says of its sign-in holds for its requests
import { unreachable } from '../src/failures.ts';
import { titleQuery } from '../src/find.ts';
import { refusal } from '../src/subscription.ts';
import { catchUp } from '../src/tools/catch-up.ts';
import { createLabel } from '../src/tools/create-label.ts';
import { editFeed } from '../src/tools/edit-feed.ts';
import { listFeeds } from '../src/tools/list-feeds.ts';
import { listNews } from '../src/tools/list-news.ts';
import { markNews } from '../src/tools/mark-news.ts';
import { overview } from '../src/tools/overview.ts';
import { readNews } from '../src/tools/read-news.ts';
import { subscribe } from '../src/tools/subscribe.ts';
import { updateFeed } from '../src/tools/update-feed.ts';

const stranger: Recording = {
  folder: path.join(import.meta.dirname, '../testdata'),
  live: process.env.TAPE_OF,
  page: () => '<body class="flat ttrss_main"></body>',
  blank: (text) =>
    text
      // Of a page only what the adapter reads of it.
      .replace(/^[\s\S]*?(<body\b[^>]*\bttrss_login\b[^>]*>)[\s\S]*$/, '<!DOCTYPE html>$1')
      .replace(/^[\s\S]*(const __csrf_token = )"[^"]*"[\s\S]*$/, '<!DOCTYPE html><body><script>$1"TOKEN"')
      .replace(/^[\s\S]*<h1>Feed Debugger[\s\S]*$/, '<h1>Feed Debugger</h1>')
      .replaceAll(/csrf_token=\w+/g, 'csrf_token=TOKEN')
      .replaceAll(/clientTzOffset=-?\d+/g, 'clientTzOffset=0')
      .replace(/"hotkeys":.*?,"widescreen"/, '"widescreen"')
      .replaceAll(/"(icon_indicator_white|toolbar|buttons)":"(\\.|[^"\\])*"/g, '"$1":""'),
};

const ann: Recording = {
  ...stranger,
  async signIn(session: Session) {
    const body = new URLSearchParams({ op: 'login', login: 'ann', password: 'correct-horse-battery' });
    await session.fetch(new Request(`${session.origin}/public.php`, { method: 'POST', body }));
  },
};

const all = { only: 'all', order: 'newest', limit: 20, offset: 0 } as const;
const whole = { links: false, offset: 0, maxChars: 8000 };
const part = { limit: 50, offset: 0 };
const daily = 'http://192.0.2.10/Daily.xml';

tapeTest('nobody is signed in', stranger, async (ctx) => {
  for (const action of [
    () => overview.handle(part, ctx),
    () => listNews.handle(all, ctx),
    () => subscribe.handle({ url: daily }, ctx),
  ]) {
    const failure = await failureOf(action);
    assert.deepEqual([failure.code, failure.outcome], ['AUTH_ERROR', 'not_executed']);
    assert.match(failure.message, /http:\/\/\S+\/index\.php/);
  }
});

tapeTest('a feed is subscribed to, fetched, listed and read', ann, async (ctx) => {
  const { feedId, name } = await subscribe.handle({ url: daily }, ctx);
  assert.equal(name, 'Daily');
  assert.equal((await updateFeed.handle({ feedId }, ctx)).newUnread, 2);
  assert.equal((await overview.handle(part, ctx)).unread, 2);
  const { articles } = await listNews.handle({ ...all, only: 'unread' }, ctx);
  assert.deepEqual(
    articles.map(({ title, unread, starred }) => [title, unread, starred]),
    [
      ['Rain', true, undefined],
      ['Tea & biscuits', true, undefined],
    ],
  );
  const id = articles[1]?.id ?? 0;
  const article = await readNews.handle({ id, ...whole }, ctx);
  assert.deepEqual([article.text, article.tags], ['Both are good.', ['food']]);
  await markNews.handle({ ids: [id], as: 'read' }, ctx);
  const feeds = await listFeeds.handle({ only: 'unread', ...part }, ctx);
  assert.equal(feeds.feeds[0]?.unread, 1);
  const label = await createLabel.handle({ name: 'Later' }, ctx);
  assert.equal(label.name, 'Later');
  const done = await catchUp.handle({ feedId, olderThan: 'any' }, ctx);
  assert.deepEqual(done, { marked: 1, unread: 0 });
});

tapeTest('what is missing or refused', ann, async (ctx) => {
  for (const action of [
    () => readNews.handle({ id: 999, ...whole }, ctx),
    () => listNews.handle({ ...all, feedId: 999 }, ctx),
    () => editFeed.handle({ feedId: 999, name: 'x' }, ctx),
    () => catchUp.handle({ labelId: 999, olderThan: 'any' }, ctx),
  ]) {
    assert.equal((await failureOf(action)).code, 'NOT_FOUND');
  }
  for (const [action, code] of [
    [() => catchUp.handle({ olderThan: 'any' }, ctx), 'VALIDATION_ERROR'],
    [() => editFeed.handle({ feedId: 1 }, ctx), 'VALIDATION_ERROR'],
    [() => createLabel.handle({ name: 'Later' }, ctx), 'LABEL_EXISTS'],
    [() => subscribe.handle({ url: daily }, ctx), 'ALREADY_SUBSCRIBED'],
    [() => subscribe.handle({ url: 'http://192.0.2.10/none.xml' }, ctx), 'FEED_UNREACHABLE'],
  ] as const) {
    const failure = await failureOf(action);
    assert.deepEqual([failure.code, failure.outcome], [code, 'not_executed']);
  }
});

const row = (states: { unread: boolean; marked: boolean; published: boolean }, hides: unknown) =>
  jsonReader({ ...states, hide_images: hides });

test('states are told where the reader knows them, and else only as far as was asked for', () => {
  const none = { unread: false, marked: false, published: false };
  const unread = { ...none, unread: true };
  const told = { unread: false, starred: false, published: false };
  const unknown = { unread: undefined, starred: undefined, published: undefined };
  for (const hides of [false, '0'])
    assert.deepEqual(statesOf([row(none, hides)], 'all')(row(none, hides)), told);
  assert.deepEqual(statesOf([row(none, 0)], 'all')(row(none, 0)), unknown);
  assert.deepEqual(statesOf([row(none, 0)], 'starred')(row(none, 0)), { ...unknown, starred: true });
  assert.deepEqual(statesOf([row(none, 0), row(unread, 0)], 'all')(row(none, 0)), told);
});

test('of a title only words are searched for, the longest first', () => {
  assert.equal(titleQuery('Tea & "biscuits" -50% (c)'), 'title:biscuits title:Tea title:50 title:c');
  assert.equal(titleQuery('?!'), '');
});

test('files that came with an article', () => {
  const enclosures = `<div onclick="Article.popupOpenUrl('http://a.example/a.mp3?x=1&amp;y=2')">a</div>`;
  assert.deepEqual(attachmentsOf(jsonReader({ enclosures })), ['http://a.example/a.mp3?x=1&y=2']);
});

test('a feed that cannot be fetched is worth another try unless it was refused for good', () => {
  for (const [said, retryable] of [
    ['HTTP/1.1 404 Not Found; Undefined array key "port"', false],
    ['HTTP/1.1 429 Too Many Requests', true],
    ['HTTP/2 503', true],
    ['28 Operation timed out', true],
    ['Requested URL failed extended validation.', false],
    ['', true],
  ] as const) {
    assert.equal(unreachable('x', said, 'not_executed').retryable, retryable, said);
  }
});

test('why the reader does not subscribe', () => {
  const codeOf = (result: unknown) => refusal('http://a.example/', jsonReader(result)).code;
  assert.equal(codeOf({ code: 2 }), 'VALIDATION_ERROR');
  assert.equal(codeOf({ code: 3 }), 'NO_FEED_FOUND');
  assert.equal(codeOf({ code: 4, feeds: { 'http://a.example/f': 'F' } }), 'SEVERAL_FEEDS');
  assert.equal(codeOf({ code: 9 }), 'INVALID_RESPONSE');
});
