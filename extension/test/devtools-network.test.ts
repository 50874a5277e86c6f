import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Seen, toldOf } from '../src/capabilities/devtools/network.ts';
import { Border, type SiteState } from '../src/worker/tabs/sites.ts';

const own = 'https://own.test';
const bank = 'https://bank.test';
const border = (state: SiteState) =>
  new Border({ rest: 'ask', origins: { [own]: 'open', [bank]: state } }, () => true);

const header = (name: string, value: string) => ({ name, value });
const seen: Seen = {
  id: 1,
  key: '1',
  page: own,
  chain: [],
  open: false,
  method: 'GET',
  url: `${own}/go`,
  type: 'main_frame',
  at: 0,
  status: 302,
  redirect: `${bank}/private?of=1`,
  initiator: bank,
  requestHeaders: [header('Referer', `${bank}/private`), header('Origin', bank), header('Accept', '*/*')],
  responseHeaders: [
    header('Location', `${bank}/private?of=1`),
    header('content-location', '//bank.test/private'),
    header('Refresh', `0; url='${bank}/private'`),
    header(
      'Link',
      `<${bank}/private>; rel=next, </own>; rel=prev, <https:\\\\bank.test\\private>; rel=first`,
    ),
    header('Content-Type', 'text/html'),
  ],
};
const values = (headers: Seen['responseHeaders']) => headers?.map(({ value }) => value);

test('of a closed site a request tells no address but the origin, and the kept request stays whole', () => {
  const before = structuredClone(seen);
  const asked = toldOf(seen, border('ask'));
  assert.equal(asked.redirect, bank);
  assert.equal(asked.initiator, bank);
  assert.deepEqual(values(asked.requestHeaders), [bank, bank, '*/*']);
  assert.deepEqual(values(asked.responseHeaders), [
    bank,
    bank,
    `0; url='${bank}'`,
    `<${bank}>; rel=next, </own>; rel=prev, <${bank}>; rel=first`,
    'text/html',
  ]);
  assert.deepEqual(seen, before);
  assert.deepEqual(toldOf(seen, border('open')), seen);
});

test('where a request came from is not told if that site is off', () => {
  const told = toldOf(seen, border('off'));
  assert.equal('initiator' in told, false);
  assert.deepEqual(told.requestHeaders, [header('Accept', '*/*')]);
  assert.equal(told.redirect, bank);
});

test('an address of the own site, or one that is none, is told as it is', () => {
  const responseHeaders = [
    header('Location', '/next?page=2'),
    header('Refresh', '5'),
    header('Link', 'none'),
  ];
  const { redirect: _, ...rest } = { ...seen, redirect: `${own}/next?page=2`, responseHeaders };
  assert.deepEqual(toldOf(rest, border('ask')).responseHeaders, responseHeaders);
});

test('of a request to a site that is off the origin is told, and what came of it', () => {
  const sent: Seen = {
    ...seen,
    url: `${bank}/private?of=1`,
    initiator: own,
    posted: 'of=1',
    body: '{}',
    bodyCut: false,
  };
  const { redirect: _, ...rest } = sent;
  const asked = toldOf(rest, border('ask'));
  assert.deepEqual([asked.url, asked.posted, asked.body], [sent.url, 'of=1', '{}']);
  const { id, key, page, chain, open, method, type, at, status } = sent;
  const told = { id, key, page, chain, open, method, type, at, status, url: bank, initiator: own };
  assert.deepEqual(toldOf(rest, border('off')), told);
  assert.deepEqual(toldOf(sent, border('off')), { ...told, redirect: bank });
});
