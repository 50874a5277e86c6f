// Which documents a call may touch, by their own sites and by what made or contains them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Around, Border, sayClosed } from '../src/worker/tabs/sites.ts';

const border = new Border(
  { rest: 'ask', origins: { 'https://open.example': 'open', 'https://off.example': 'off' } },
  (url) => !url.includes('/excluded'),
);

const page: Around = { url: 'https://open.example/', origin: 'https://open.example' };
const of = (name: string, path = ''): Around => ({
  url: `https://${name}.example/${path}`,
  origin: `https://${name}.example`,
});
const without = (url: string, origin: string | undefined = 'null'): Around => ({ url, origin });

const cases: [string, Around[], string][] = [
  ['a page that is open', [page], 'open'],
  ['a page that is off', [of('off')], 'off https://off.example'],
  ['a frame of a site of which nothing is said', [of('pay'), page], 'ask https://pay.example'],
  ['a frame of a site that is off', [of('off'), page], 'off https://off.example'],
  ['an open frame in one that is off', [of('open'), of('off'), page], 'off https://off.example'],
  ['an open frame in one that is asked about', [of('open'), of('pay'), page], 'open'],
  ['one in a page that is off', [of('open'), of('off')], 'off https://off.example'],
  ['of two, the one that is off', [of('pay'), of('off'), page], 'off https://off.example'],
  ['an address that is left out', [of('open', 'excluded'), page], 'off https://open.example'],
  [
    'a frame in one whose address is left out',
    [of('open'), of('open', 'excluded'), page],
    'off https://open.example',
  ],
  ['about:blank of the page', [without('about:blank', 'https://open.example'), page], 'open'],
  [
    'about:blank that another site has filled',
    [without('about:blank', 'https://off.example'), page],
    'off https://off.example',
  ],
  [
    'srcdoc in a frame that is asked about',
    [without('about:srcdoc', 'https://pay.example'), of('pay'), page],
    'ask https://pay.example',
  ],
  ['a sandboxed srcdoc', [without('about:srcdoc'), of('pay'), page], 'ask https://pay.example'],
  [
    'a sandboxed srcdoc in another',
    [without('about:srcdoc'), without('about:srcdoc'), of('pay'), page],
    'ask https://pay.example',
  ],
  ['data:', [without('data:text/html,x'), of('pay'), page], 'ask https://pay.example'],
  ['blob: of the page', [without('blob:https://open.example/1', 'https://open.example'), page], 'open'],
  [
    'blob: of another site',
    [without('blob:https://off.example/1', undefined), page],
    'off https://off.example',
  ],
  [
    'a sandboxed frame of an open site in one that is asked about',
    [without('https://open.example/x'), of('pay'), page],
    'ask https://pay.example',
  ],
  [
    'a sandboxed frame of a site that is off',
    [without('https://off.example/x'), page],
    'off https://off.example',
  ],
  ['a document of nobody', [without('data:text/html,x')], 'ask null'],
];

for (const [name, chain, want] of cases)
  test(name, () => {
    const closed = border.closed(chain);
    assert.equal(closed === undefined ? 'open' : `${closed.state} ${closed.origin}`, want);
  });

test('a document of nobody about which the person was asked is open', () => {
  const asked = new Border({ rest: 'ask', origins: { null: 'open' } }, () => true);
  assert.equal(asked.closed([without('data:text/html,x')]), undefined);
});

test('what a relay says nothing of is asked about', () => {
  const old = Border.of({ origin: 'https://open.example' }, { matches: ['*://*/*'], excludes: [] });
  assert.equal(old.closed([page]), undefined);
  assert.equal(old.closed([of('pay'), page])?.state, 'ask');
});

test('names of an origin that objects have by themselves mean nothing', () => {
  const plain = new Border({ rest: 'off', origins: {} }, () => true);
  assert.equal(plain.state('constructor'), 'off');
  assert.equal(plain.state('__proto__'), 'off');
});

test('the sentence names the site and the page around it', () => {
  const closed = border.closed([of('off'), page]);
  assert.ok(closed);
  assert.equal(
    sayClosed(closed, 'https://open.example'),
    'https://off.example, in a page of https://open.example, is off',
  );
});

test('sites that a policy names by patterns are off outside them, whatever else is said', () => {
  const within = { allow: ['https://*.example/*'], deny: ['*://bank.example/*'], rest: 'ask' } as const;
  const sites = { rest: 'off', origins: { 'https://shop.example': 'open' }, within: { ...within } } as const;
  const patterns = { allow: [...within.allow], deny: [...within.deny], rest: within.rest };
  const border = new Border({ ...sites, origins: { ...sites.origins }, within: patterns }, () => true);
  const states: [string, string][] = [
    ['https://shop.example', 'open'],
    ['https://shop.example.', 'open'],
    ['https://wiki.example', 'ask'],
    ['https://wiki.example.', 'ask'],
    ['https://wiki.example:8443', 'ask'],
    ['http://wiki.example', 'off'],
    ['https://bank.example', 'off'],
    ['https://bank.example.', 'off'],
    ['https://bank.example.:8443', 'off'],
    ['https://evil.test', 'off'],
    ['null', 'off'],
  ];
  for (const [origin, state] of states) assert.equal(border.state(origin), state, origin);
  const page = { url: 'https://wiki.example/', origin: 'https://wiki.example' };
  const frame = { url: 'https://bank.example/', origin: 'https://bank.example' };
  assert.deepEqual(border.closed([frame, page]), {
    origin: 'https://bank.example',
    state: 'off',
    excluded: false,
  });
  const inside = { url: 'https://shop.example/', origin: 'https://shop.example' };
  assert.equal(border.closed([inside, frame])?.origin, 'https://bank.example');
  assert.equal(border.ahead('https://bank.example./'), 'off');
  assert.equal(border.ahead('data:text/html,x'), 'off');
});
