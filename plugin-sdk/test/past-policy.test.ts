import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { fetchJSON } from '../src/index.ts';
import { enter } from '../src/scope.ts';

const document = new EventTarget();
let sent: string[];

class Violation extends Event {
  readonly effectiveDirective: string;
  readonly blockedURI: string;
  override readonly isTrusted = true;

  constructor(effectiveDirective: string, blockedURI: string) {
    super('securitypolicyviolation');
    this.effectiveDirective = effectiveDirective;
    this.blockedURI = blockedURI;
  }
}

beforeEach(() => {
  sent = [];
  Reflect.set(globalThis, 'document', document);
  Reflect.set(globalThis, 'location', new URL('https://tea.example/cups'));
  const outside = async (request: Request) => {
    sent.push(`outside ${request.method} ${request.url} ${await request.text()}`);
    return Response.json({ from: 'outside' });
  };
  enter({
    settings: {},
    preScript: undefined,
    log: undefined,
    fetch: outside,
    readinessChanged: () => {},
  });
});

afterEach(() => {
  mock.restoreAll();
  Reflect.deleteProperty(globalThis, 'document');
  Reflect.deleteProperty(globalThis, 'location');
});

const failing = (report?: Violation) =>
  mock.method(globalThis, 'fetch', async (request: Request) => {
    sent.push(`page ${request.url}`);
    if (report) setTimeout(() => document.dispatchEvent(report), 1);
    throw new TypeError('Failed to fetch');
  });

const url = 'https://tea.example/api?x=1';

test('what the policy refused is sent from outside, body and all', async () => {
  failing(new Violation('connect-src', url));
  const answer = await fetchJSON(`${url}#part`, { method: 'POST', body: 'tea' });
  assert.deepEqual(answer, { from: 'outside' });
  assert.deepEqual(sent, [`page ${url}#part`, `outside POST ${url}#part tea`]);
});

for (const [name, report] of [
  ['that failed otherwise', undefined],
  ['that another policy was about', new Violation('img-src', url)],
  ['beside one that was refused', new Violation('connect-src', 'https://tea.example/other')],
] as const) {
  test(`a request ${name} is not sent again`, async () => {
    failing(report);
    await assert.rejects(fetchJSON(url), { code: 'NETWORK_ERROR', outcome: 'unknown' });
    assert.deepEqual(sent, [`page ${url}`]);
  });
}

test('another origin is never asked from outside', async () => {
  failing(new Violation('connect-src', 'https://other.example/'));
  await assert.rejects(fetchJSON('https://other.example/'), { code: 'NETWORK_ERROR' });
  assert.deepEqual(sent, ['page https://other.example/']);
});
