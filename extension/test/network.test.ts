// The requests of the SDK with what the page's runtime lends to it, in a page that replaces what it can.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import {
  fetchFromPage,
  fetchJSON,
  fetchText,
  httpStatusToToolError,
  postForm,
  postJSON,
} from '../../plugin-sdk/src/index.ts';
import { enter, type Scope } from '../../plugin-sdk/src/scope.ts';

const location = new URL('https://tea.example/cups');
const document = new EventTarget();

class Violation extends Event {
  readonly #about: [directive: string, address: string];
  override readonly isTrusted = true;

  constructor(...about: [directive: string, address: string]) {
    super('securitypolicyviolation');
    this.#about = about;
  }

  get effectiveDirective(): string {
    return this.#about[0];
  }

  get blockedURI(): string {
    return this.#about[1];
  }
}

// What the browser has when the runtime is loaded.
let answer: (request: Request) => Promise<Response>;
const browserFetch = (request: Request, { signal = null }: RequestInit) =>
  answer(new Request(request, { signal }));
const globals = { location, document, SecurityPolicyViolationEvent: Violation, fetch: browserFetch };
Object.assign(globalThis, globals);
const { openNetwork } = await import('../src/page/network.ts');

let sent: string[];
const told = async (request: Request) => `${request.method} ${request.url} ${await request.text()}`;
const network: Scope['network'] = openNetwork(async (request) => {
  sent.push(`outside ${await told(request)}`);
  return Response.json({ from: 'outside' });
});

beforeEach(() => {
  sent = [];
  enter({ settings: {}, preScript: undefined, log: undefined, network, readinessChanged() {} });
});

const url = 'https://tea.example/api?x=1';

/** Puts things in the place of others until the test is over. */
const restoring: (() => void)[] = [];
function replace(owner: object, name: PropertyKey, descriptor: PropertyDescriptor): void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { configurable: true, ...descriptor });
  restoring.push(() => {
    if (before) Object.defineProperty(owner, name, before);
    else Reflect.deleteProperty(owner, name);
  });
}
afterEach(() => {
  for (const restore of restoring.splice(0)) restore();
});

/** Puts functions of the page in the place of these, and counts their calls. */
function spoil(owner: object, names: PropertyKey[]): string[] {
  const called: string[] = [];
  for (const name of names) {
    const forge = () => {
      called.push(String(name));
      return 'forged';
    };
    const accessor = Object.getOwnPropertyDescriptor(owner, name)?.get !== undefined;
    replace(owner, name, accessor ? { get: forge } : { value: forge });
  }
  return called;
}

// More of them in Chromium: Node's own fetch is written in JavaScript and uses them, too.
test('what a page put in the place of built-ins sees no request and changes no answer', async () => {
  answer = async (request) => {
    const token = request.headers.get('x-token');
    return new Response(`{"got":"${await told(request)}","token":"${token}"}`);
  };
  const called = [
    spoil(globalThis, ['fetch']),
    spoil(JSON, ['parse', 'stringify']),
    spoil(Response.prototype, ['json', 'text', 'clone', 'ok', 'headers', 'url']),
    spoil(Headers.prototype, ['entries', 'has']),
  ];
  const [json, form, text] = await Promise.all([
    postJSON(url, 7, { headers: { 'x-token': 't' } }),
    postForm(url, { b: [1, 'x y'] }, { headers: [['X-Token', 't']] }),
    fetchText(url),
  ]);
  for (const restore of restoring.splice(0)) restore();
  assert.deepEqual(called.flat(), []);
  assert.deepEqual(json, { got: `POST ${url} 7`, token: 't' });
  assert.deepEqual(form, { got: `POST ${url} b=1&b=x+y`, token: 't' });
  assert.match(text, /"GET https/);
});

test('what the caller named goes before what is added, however it was named', async () => {
  answer = async ({ headers }) => Response.json([headers.get('accept'), headers.get('content-type')]);
  const own = { Accept: 'text/csv', 'Content-Type': 'text/plain' };
  for (const headers of [own, Object.entries(own), new Headers(own)]) {
    assert.deepEqual(await postJSON(url, {}, { headers }), ['text/csv', 'text/plain']);
  }
  assert.deepEqual(await postJSON(new URL(url), {}), ['application/json', 'application/json']);
  assert.deepEqual(await fetchJSON(new Request(url, { headers: own })), ['text/csv', 'text/plain']);
});

test('a failure says what the answer said', async () => {
  const answered = new Response('why', { status: 429, headers: { 'retry-after': '2' } });
  answer = async () => answered.clone();
  const failure = { code: 'RATE_LIMITED', retryAfterMs: 2000, message: 'The site answered 429: why' };
  await assert.rejects(fetchJSON(url), failure);
  assert.equal((await httpStatusToToolError(answered)).message, failure.message);
});

test('a request ends with its time, and with the reason of its caller', async () => {
  answer = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  await assert.rejects(fetchJSON(url, { timeout: 1 }), { code: 'TIMEOUT', outcome: 'unknown' });
  const caller = new AbortController();
  const waiting = fetchJSON(url, { signal: caller.signal });
  caller.abort(new Error('cancelled'));
  await assert.rejects(waiting, /cancelled/);
});

// Undefined for everybody who asks: this test is made of promises as well.
const hang = (owner: object) => replace(owner, 'then', { get: () => undefined });

for (const [name, owner] of [
  ['all data', Object.prototype],
  ['answers', Response.prototype],
] as const) {
  test(`where the page has hung a then on ${name}, nothing is sent`, async () => {
    answer = () => assert.fail('it was sent');
    hang(owner);
    await assert.rejects(postJSON(url, {}), { code: 'INVALID_OUTPUT', outcome: 'not_executed' });
  });

  test(`where it hung a then on ${name} meanwhile, the answer is refused`, async () => {
    answer = async () => {
      hang(owner);
      return Response.json({});
    };
    await assert.rejects(postJSON(url, {}), { code: 'INVALID_OUTPUT', outcome: 'unknown' });
    for (const restore of restoring.splice(0)) restore();
    await assert.rejects(fetchFromPage(url), { code: 'INVALID_OUTPUT', outcome: undefined });
  });
}

test('a toJSON that cannot be taken away keeps a body from being sent', async () => {
  answer = () => assert.fail('it was sent');
  const fixed = Object.freeze(Object.create(null, { toJSON: { value: () => 'forged' } }));
  Object.setPrototypeOf(Array.prototype, fixed); // as good as on Object.prototype, and can be taken back
  restoring.push(() => Object.setPrototypeOf(Array.prototype, Object.prototype));
  const refused = { code: 'VALIDATION_ERROR', outcome: 'not_executed' };
  await assert.rejects(postJSON(url, { a: 1 }), refused);
});

const failing = (report?: Violation) => async (request: Request) => {
  sent.push(`page ${request.url}`);
  if (report) setImmediate(() => document.dispatchEvent(report));
  throw new TypeError('Failed to fetch');
};

test('what the policy refused is sent from outside, body and all', async () => {
  answer = failing(new Violation('connect-src', url));
  const got = await fetchJSON(`${url}#part`, { method: 'POST', body: 'tea' });
  assert.deepEqual(got, { from: 'outside' });
  assert.deepEqual(sent, [`page ${url}#part`, `outside POST ${url}#part tea`]);
});

for (const [name, report] of [
  ['that failed otherwise', undefined],
  ['that another policy was about', new Violation('img-src', url)],
  ['beside one that was refused', new Violation('connect-src', 'https://tea.example/other')],
] as const) {
  test(`a request ${name} is not sent again`, async () => {
    answer = failing(report);
    await assert.rejects(fetchJSON(url), { code: 'NETWORK_ERROR', outcome: 'unknown' });
    assert.deepEqual(sent, [`page ${url}`]);
  });
}

test('another origin is never asked from outside', async () => {
  answer = failing(new Violation('connect-src', 'https://other.example/'));
  await assert.rejects(fetchJSON('https://other.example/'), { code: 'NETWORK_ERROR' });
  assert.deepEqual(sent, ['page https://other.example/']);
});
