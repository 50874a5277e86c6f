import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { type Answer, failureOf, Requests } from '../src/worker/link/requests.ts';

class FakeLink {
  protocol = 2;
  sent: { header: Record<string, unknown>; payload: string | undefined }[] = [];

  sendText(text: string): boolean {
    if (this.protocol === 0) return false;
    const end = text.indexOf('\n');
    this.sent.push({
      header: JSON.parse(end < 0 ? text : text.slice(0, end)),
      payload: end < 0 ? undefined : text.slice(end + 1),
    });
    return true;
  }

  get lastId(): string {
    return String(this.sent.at(-1)?.header.id);
  }
}

function setUp(): { link: FakeLink; requests: Requests } {
  const link = new FakeLink();
  return { link, requests: new Requests(link) };
}

const code = ({ body }: Answer): unknown => /"code":"(\w+)"/.exec(JSON.stringify(body))?.[1];

test('a request goes out as one frame, and its answer comes back parsed', async () => {
  const { link, requests } = setUp();
  const answer = requests.ask('PUT', '/api/v1/paused', { paused: true });
  const sent = link.sent[0];
  assert.match(link.lastId, /^[0-9a-f]{32}$/);
  assert.deepEqual(sent?.header, {
    type: 'request',
    id: link.lastId,
    method: 'PUT',
    path: '/api/v1/paused',
  });
  assert.equal(sent?.payload, '{"paused":true}');
  requests.handleResponse({ type: 'response', id: 'f'.repeat(32), status: 500 }, ''); // nobody's
  requests.handleResponse({ type: 'response', id: link.lastId, status: 200 }, '{"paused":true}');
  assert.deepEqual(await answer, { status: 200, body: { paused: true } });
});

test('a request without a body has no payload, an answer without one is null', async () => {
  const { link, requests } = setUp();
  const answer = requests.ask('GET', '/api/v1/status');
  assert.equal(link.sent[0]?.payload, undefined);
  requests.handleResponse({ type: 'response', id: link.lastId, status: 204 }, '');
  assert.deepEqual(await answer, { status: 204, body: null });
});

test('answers find their requests in any order', async () => {
  const { link, requests } = setUp();
  const first = requests.ask('GET', '/api/v1/tabs');
  const firstId = link.lastId;
  const second = requests.ask('GET', '/api/v1/clients');
  requests.handleResponse({ type: 'response', id: link.lastId, status: 200 }, '2');
  requests.handleResponse({ type: 'response', id: firstId, status: 200 }, '1');
  assert.deepEqual([(await first).body, (await second).body], [1, 2]);
});

test('what was under way when the link was lost is told so', async () => {
  const { requests } = setUp();
  const both = [requests.ask('GET', '/api/v1/tabs'), requests.ask('POST', '/api/v1/approvals/1', {})];
  requests.lost();
  for (const answer of await Promise.all(both)) {
    assert.equal(answer.status, 0);
    assert.match(failureOf(answer) ?? '', /link to the relay was lost/);
  }
});

test('silence of the relay ends a request', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { requests } = setUp();
    const answer = requests.ask('GET', '/api/v1/tabs');
    mock.timers.tick(15_000);
    assert.equal(code(await answer), 'TIMEOUT');
  } finally {
    mock.timers.reset();
  }
});

test('what the relay could not take is not sent', async () => {
  const tests: [protocol: number, method: string, path: string, body: unknown, code: string][] = [
    [0, 'GET', '/api/v1/status', undefined, 'EXTENSION_LOST'],
    [1, 'GET', '/api/v1/status', undefined, 'VERSION_MISMATCH'],
    [2, 'get\n', '/api/v1/status', undefined, 'INVALID_REQUEST'],
    [2, 'GET', '', undefined, 'INVALID_REQUEST'],
    [2, 'GET', `/api/v1/${'x'.repeat(2048)}`, undefined, 'INVALID_REQUEST'],
    [2, 'POST', '/api/v1/status', 'ä'.repeat(1 << 19), 'INPUT_TOO_LARGE'],
  ];
  for (const [protocol, method, path, body, want] of tests) {
    const { link, requests } = setUp();
    link.protocol = protocol;
    const answer = await requests.ask(method, path, body);
    assert.equal(code(answer), want);
    assert.ok(failureOf(answer) !== undefined);
    assert.deepEqual(link.sent, []);
  }
});

test('requests under way are limited', async () => {
  const { link, requests } = setUp();
  for (let i = 0; i < 64; i++) requests.ask('GET', '/api/v1/status');
  assert.equal(code(await requests.ask('GET', '/api/v1/status')), 'OVERLOADED');
  assert.equal(link.sent.length, 64);
  requests.lost();
});
