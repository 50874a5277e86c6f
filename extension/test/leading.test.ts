// What an agent is told of where a call leads, and what a tab is kept from.
import assert from 'node:assert/strict';
import test from 'node:test';
import { isBounded, regexOf } from '../src/worker/tabs/border.ts';
import { judgeOf, toldAddress, toldPage } from '../src/worker/tabs/leading.ts';
import { Border } from '../src/worker/tabs/sites.ts';

const sites = {
  rest: 'ask',
  origins: { 'https://forum.example': 'open', 'https://bank.example': 'off' },
} as const;
const pages = { matches: ['<all_urls>'], excludes: ['https://forum.example/private/*'] };
const judge = judgeOf(Border.of({ sites }, pages));

test('an address is judged by its site, and by the pages that the person leaves out', () => {
  for (const [url, state] of [
    ['https://forum.example/thread', 'open'],
    ['https://forum.example/private/x', 'off'],
    ['https://bank.example/', 'off'],
    ['https://bank.example:8443/', 'ask'],
    ['http://bank.example/', 'ask'],
    ['https://bank.example.evil.example/', 'ask'],
    ['blob:https://bank.example/1234', 'off'],
    ['about:blank', 'open'],
    ['data:text/html,x', 'ask'],
    ['https://__proto__/', 'ask'],
  ] as const)
    assert.equal(judge(url), state, url);
  const alone = judgeOf(
    Border.of({ origin: 'https://a.example' }, { matches: ['<all_urls>'], excludes: [] }),
  );
  assert.deepEqual([alone('https://a.example/x'), alone('https://b.example/x')], ['open', 'ask']);
});

test('of a page is told what may be: all, its address and title, or its site', () => {
  assert.deepEqual(toldPage(judge, { url: 'https://forum.example/a?b#c', title: 'Forum' }), {
    url: 'https://forum.example/a?b#c',
    title: 'Forum',
  });
  const asked = toldPage(judge, { url: 'https://shop.example/cart?token=1#x', title: 'Shop' });
  assert.deepEqual([asked.url, asked.title], ['https://shop.example/cart', 'Shop']);
  assert.match(asked.note ?? '', /browser__snapshot/);
  const off = toldPage(judge, { url: 'https://bank.example/private', title: 'Balance' });
  assert.deepEqual([off.url, off.title], ['https://bank.example', undefined]);
  assert.equal(toldAddress(judge, 'blob:https://bank.example/1234'), 'https://bank.example');
});

test('only a call that can meet what is off needs rules', () => {
  assert.equal(isBounded({ sites, excludes: [] }), true);
  assert.equal(
    isBounded({ sites: { rest: 'open', origins: { 'https://a.example': 'ask' } }, excludes: [] }),
    false,
  );
  assert.equal(isBounded({ sites: { rest: 'off', origins: {} }, excludes: [] }), true);
  assert.equal(isBounded({ sites: { rest: 'open', origins: {} }, excludes: ['https://a.example/*'] }), true);
});

test('a match pattern becomes the expression that Chrome stops addresses by', () => {
  for (const [pattern, matching, other] of [
    ['https://bank.example/*', 'https://bank.example/x', 'https://bank.example.evil.example/x'],
    ['*://*.bank.example/*', 'http://www.bank.example:8080/x', 'https://evilbank.example/x'],
    ['*://*.bank.example/*', 'https://bank.example/', 'https://evil.example/?https://bank.example/'],
    ['https://bank.example:8443/pay*', 'https://bank.example:8443/pay?x', 'https://bank.example/pay'],
    ['*://*/admin/*', 'https://any.example/admin/', 'https://any.example/user/'],
  ] as const) {
    assert.match(matching, new RegExp(regexOf(pattern)), pattern);
    assert.doesNotMatch(other, new RegExp(regexOf(pattern)), pattern);
  }
  assert.match('http://a.example/', new RegExp(regexOf('<all_urls>')));
});
