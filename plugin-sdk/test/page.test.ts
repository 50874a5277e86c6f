import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Window } from 'happy-dom';
import * as sdk from '../src/index.ts';

const names = ['window', 'document', 'location', 'MutationObserver', 'CSS'] as const;
let page: Window;

beforeEach(() => {
  page = new Window({ url: 'https://tea.example/cups?x=1' });
  for (const name of names)
    Reflect.defineProperty(globalThis, name, { value: page[name], configurable: true });
  page.document.body.innerHTML = `
    <meta name="csrf" content="t1"><meta property="og:title" content="Tea">
    <ul id="cups"><li>  Green
      tea </li><li>Black</li></ul>`;
});

afterEach(async () => {
  await page.happyDOM.close();
  for (const name of names) Reflect.deleteProperty(globalThis, name);
});

test('reading elements', () => {
  assert.equal(sdk.querySelectorAll('li').length, 2);
  assert.equal(sdk.getTextContent('li'), 'Green tea');
  assert.equal(sdk.getTextContent('table'), undefined);
  assert.equal(sdk.getMetaContent('csrf'), 't1');
  assert.equal(sdk.getMetaContent('og:title'), 'Tea');
  assert.equal(sdk.getMetaContent('none'), undefined);
  assert.equal(sdk.getCurrentUrl(), 'https://tea.example/cups?x=1');
});

test('waiting for an element that is there, that comes, that goes, and that never comes', async () => {
  assert.equal((await sdk.waitForSelector('li')).textContent?.trim().slice(0, 5), 'Green');
  const coming = sdk.waitForSelector('.late');
  const going = sdk.waitForSelectorRemoval('#cups');
  const late = page.document.createElement('p');
  late.className = 'late';
  page.document.body.append(late);
  page.document.querySelector('#cups')?.remove();
  assert.equal((await coming).tagName, 'P');
  await going;
  await sdk.waitForSelectorRemoval('#cups');
  await assert.rejects(sdk.waitForSelector('.never', { timeout: 5 }), {
    code: 'TIMEOUT',
    message: '".never" did not appear within 0.005 s',
  });
});

test('waiting ends with the reason of its signal', async () => {
  const stop = new AbortController();
  const why = new Error('why');
  const waiting = sdk.waitForSelector('.never', { signal: stop.signal });
  stop.abort(why);
  await assert.rejects(waiting, why);
  await assert.rejects(sdk.waitForSelector('.never', { signal: stop.signal }), why);
});

test('observing ends when it is told to', async () => {
  const list = page.document.querySelector('#cups');
  const seen: number[] = [];
  const stop = sdk.observeDOM('#cups', (changes) => seen.push(changes.length));
  list?.append('more');
  await page.happyDOM.waitUntilComplete();
  assert.deepEqual(seen, [1]);
  stop();
  list?.append('more');
  await page.happyDOM.waitUntilComplete();
  assert.deepEqual(seen, [1]);
  assert.throws(() => sdk.observeDOM('table', () => {}), { code: 'NOT_FOUND' });
});

test('storage and cookies', () => {
  sdk.setLocalStorage('token', 't');
  assert.equal(sdk.getLocalStorage('token'), 't');
  assert.deepEqual(
    sdk.findLocalStorageEntry((key) => key.startsWith('tok')),
    { key: 'token', value: 't' },
  );
  assert.equal(
    sdk.findLocalStorageEntry(() => false),
    undefined,
  );
  sdk.removeLocalStorage('token');
  assert.equal(sdk.getLocalStorage('token'), null);
  sdk.setSessionStorage('a', 'b');
  assert.equal(sdk.getSessionStorage('a'), 'b');
  sdk.removeSessionStorage('a');
  assert.equal(sdk.getSessionStorage('a'), null);
  page.document.cookie = 'name=caf%C3%A9';
  page.document.cookie = 'odd=100%';
  assert.equal(sdk.getCookie('name'), 'café');
  assert.equal(sdk.getCookie('odd'), '100%');
  assert.equal(sdk.getCookie('nam'), undefined);
});

test('a page without storage has none', () => {
  const window = {
    get localStorage(): never {
      throw new Error('denied');
    },
  };
  Reflect.defineProperty(globalThis, 'window', { value: window, configurable: true });
  assert.equal(sdk.getLocalStorage('a'), null);
  assert.equal(sdk.getSessionStorage('a'), null);
});

test('the cache of a plugin is not in the page', () => {
  sdk.setAuthCache('site', { token: 't' });
  assert.deepEqual(sdk.getAuthCache('site'), { token: 't' });
  sdk.clearAuthCache('site');
  assert.equal(sdk.getAuthCache('site'), undefined);
});

test('page globals by path', () => {
  Reflect.defineProperty(globalThis, 'app', { value: { user: { name: 'Ada' } }, configurable: true });
  assert.equal(sdk.getPageGlobal('app.user.name'), 'Ada');
  for (const path of ['app.nobody.name', 'app.constructor', 'app.__proto__', 'nothing']) {
    assert.equal(sdk.getPageGlobal(path), undefined);
  }
  Reflect.deleteProperty(globalThis, 'app');
});
