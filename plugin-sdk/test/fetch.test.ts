import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { after, before, mock, test } from 'node:test';
import {
  deleteJSON,
  fetchFromPage,
  fetchJSON,
  fetchText,
  httpStatusToToolError,
  parseRateLimitHeader,
  parseRetryAfterMs,
  patchJSON,
  postForm,
  postFormData,
  postJSON,
  putJSON,
  ToolError,
} from '../src/index.ts';

let server: Server;
let base = '';

const body = async (request: IncomingMessage) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
};

const routes: Record<string, RequestListener> = {
  '/echo': async (request, response) => {
    const { method, headers } = request;
    response.end(
      JSON.stringify({
        method,
        accept: headers.accept,
        type: headers['content-type'],
        body: await body(request),
      }),
    );
  },
  '/text': (_, response) => response.end('tea'),
  '/empty': (_, response) => response.writeHead(204).end(),
  '/html': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>'),
  '/never': () => {},
  '/half': (_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{');
  },
  '/cut': (request) => request.socket.destroy(),
};

before(async () => {
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', base);
    const status = /^\/status\/(\d+)$/.exec(url.pathname)?.[1];
    if (status === undefined) return routes[url.pathname]?.(request, response);
    response
      .writeHead(Number(status), Object.fromEntries(url.searchParams))
      .end(status === '400' ? 'x'.repeat(2000) : 'why');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  base = `http://127.0.0.1:${address.port}`;
});

after(() => {
  server.closeAllConnections();
  server.close();
});

async function thrown(promise: Promise<unknown>): Promise<ToolError> {
  const caught = await promise.then(
    (value) => assert.fail(`it answered ${value}`),
    (error: unknown) => error,
  );
  assert.ok(caught instanceof ToolError, String(caught));
  return caught;
}

const statuses: ReadonlyArray<
  readonly [status: number, code: string, category: string | undefined, retryable: boolean, outcome: string]
> = [
  [400, 'VALIDATION_ERROR', 'validation', false, 'not_executed'],
  [401, 'AUTH_ERROR', 'auth', false, 'not_executed'],
  [403, 'AUTH_ERROR', 'auth', false, 'not_executed'],
  [404, 'NOT_FOUND', 'not_found', false, 'not_executed'],
  [408, 'TIMEOUT', 'timeout', true, 'not_executed'],
  [418, 'HTTP_418', undefined, false, 'not_executed'],
  [422, 'VALIDATION_ERROR', 'validation', false, 'not_executed'],
  [429, 'RATE_LIMITED', 'rate_limit', true, 'not_executed'],
  [500, 'INTERNAL_ERROR', 'internal', true, 'unknown'],
  [501, 'HTTP_501', 'internal', false, 'unknown'],
  [502, 'INTERNAL_ERROR', 'internal', true, 'unknown'],
  [503, 'INTERNAL_ERROR', 'internal', true, 'unknown'],
  [504, 'INTERNAL_ERROR', 'internal', true, 'unknown'],
];

for (const [status, code, category, retryable, outcome] of statuses) {
  test(`${status} becomes ${code}`, async () => {
    const error = await thrown(fetchJSON(`${base}/status/${status}`));
    assert.deepEqual(
      [error.code, error.category, error.retryable, error.outcome],
      [code, category, retryable, outcome],
    );
    assert.ok(error.message.includes(`${base}/status/${status} answered ${status}: `), error.message);
  });
}

test('an application explains its own failures, and leaves to the status what it cannot explain', async () => {
  const explain = async (response: Response) =>
    response.status === 400
      ? httpStatusToToolError(response, `The shop says ${await response.text()}`)
      : undefined;
  const explained = await thrown(fetchJSON(`${base}/status/400`, { explain }));
  assert.match(explained.message, /^The shop says x+$/);
  assert.equal(explained.code, 'VALIDATION_ERROR');
  const left = await thrown(postJSON(`${base}/status/404`, {}, { explain }));
  assert.match(left.message, /answered 404: why$/);
});

test('the body of an error is cut at 512 characters', async () => {
  const error = await thrown(fetchText(`${base}/status/400`));
  assert.match(error.message, /: x{512}…$/);
});

test('Retry-After reaches a retryable error only', async () => {
  assert.equal((await thrown(fetchText(`${base}/status/429?retry-after=2`))).retryAfterMs, 2000);
  assert.equal((await thrown(fetchText(`${base}/status/503?ratelimit-reset=3`))).retryAfterMs, 3000);
  assert.equal((await thrown(fetchText(`${base}/status/404?retry-after=2`))).retryAfterMs, undefined);
});

test('Retry-After as seconds, as a date, and as nonsense', () => {
  mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1) });
  try {
    assert.equal(parseRetryAfterMs('1.5'), 1500);
    assert.equal(parseRetryAfterMs('Thu, 01 Jan 2026 00:00:10 GMT'), 10_000);
    assert.equal(parseRetryAfterMs('Thu, 01 Jan 2015 00:00:10 GMT'), 0);
    for (const nonsense of ['', ' ', 'soon', '-', null, undefined]) {
      assert.equal(parseRetryAfterMs(nonsense), undefined);
    }
    const reset = String(Date.UTC(2026, 0, 1) / 1000 + 60);
    assert.equal(parseRateLimitHeader(new Headers({ 'x-rate-limit-reset': reset })), 60_000);
    assert.equal(parseRateLimitHeader(new Headers({ 'retry-after': '1', 'x-ratelimit-reset': '9' })), 1000);
    assert.equal(parseRateLimitHeader(new Headers()), undefined);
  } finally {
    mock.timers.reset();
  }
});

test('what each method sends', async () => {
  const json = 'application/json';
  const sent = { accept: json, type: json, body: '{"a":1}' };
  assert.deepEqual(await postJSON(`${base}/echo`, { a: 1 }), { method: 'POST', ...sent });
  assert.deepEqual(await putJSON(`${base}/echo`, { a: 1 }), { method: 'PUT', ...sent });
  assert.deepEqual(await patchJSON(`${base}/echo`, { a: 1 }), { method: 'PATCH', ...sent });
  assert.deepEqual(await deleteJSON(`${base}/echo`), { method: 'DELETE', accept: json, body: '' });
  const form = 'application/x-www-form-urlencoded;charset=UTF-8';
  assert.deepEqual(await postForm(`${base}/echo`, { a: ['1', 2], b: undefined, c: 'é' }), {
    method: 'POST',
    accept: json,
    type: form,
    body: 'a=1&a=2&c=%C3%A9',
  });
  const data = new FormData();
  data.set('file', new Blob(['tea']), 'tea.txt');
  const answer = JSON.stringify(await postFormData(`${base}/echo`, data));
  assert.match(answer, /multipart\/form-data; boundary=.*filename=\\"tea.txt\\"/);
});

test('a caller may choose the headers', async () => {
  const answer = await fetchJSON(new Request(`${base}/echo`, { headers: { accept: 'text/csv' } }));
  assert.deepEqual(answer, { method: 'GET', accept: 'text/csv', body: '' });
});

test('an empty answer is undefined, and HTML is no JSON', async () => {
  assert.equal(await fetchJSON(`${base}/empty`), undefined);
  assert.equal(await fetchText(`${base}/text`), 'tea');
  const error = await thrown(fetchJSON(`${base}/html`));
  assert.deepEqual([error.code, error.category, error.outcome], ['INVALID_RESPONSE', 'internal', undefined]);
  assert.match(error.message, /text\/html in place of JSON/);
});

test('a schema checks the answer', async () => {
  const method = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) =>
        typeof value === 'object' && value !== null && 'method' in value
          ? { value: String(value.method) }
          : { issues: [{ message: 'expected an object', path: ['a', { key: 1 }] }] },
    },
  } as const;
  assert.equal(await fetchJSON(`${base}/echo`, {}, method), 'GET');
  assert.equal(await postJSON(`${base}/echo`, {}, {}, method), 'POST');
  const error = await thrown(fetchJSON(`${base}/empty`, {}, method));
  assert.match(error.message, /a\.1: expected an object$/);
});

test('a request that never gets an answer ends after the timeout', async () => {
  for (const path of ['/never', '/half']) {
    const error = await thrown(fetchJSON(base + path, { timeout: 20 }));
    assert.deepEqual(
      [error.code, error.category, error.retryable, error.outcome],
      ['TIMEOUT', 'timeout', true, 'unknown'],
    );
    assert.match(error.message, /did not answer within 0\.02 s/);
  }
});

test('a broken connection is retryable, and nobody knows what happened', async () => {
  const error = await thrown(postJSON(`${base}/cut`, {}));
  assert.deepEqual(
    [error.code, error.category, error.retryable, error.outcome],
    ['NETWORK_ERROR', 'internal', true, 'unknown'],
  );
});

test('a request that cannot be sent was not executed', async () => {
  const error = await thrown(fetchFromPage('http://:::'));
  assert.deepEqual([error.code, error.outcome], ['VALIDATION_ERROR', 'not_executed']);
});

test('the reason of an aborted signal goes first', async () => {
  const why = new Error('cancelled');
  await assert.rejects(fetchText(`${base}/text`, { signal: AbortSignal.abort(why) }), why);
  const late = new AbortController();
  const waiting = fetchText(`${base}/never`, { signal: late.signal });
  late.abort(why);
  await assert.rejects(waiting, why);
});

test('httpStatusToToolError takes a message of its own', async () => {
  const error = await httpStatusToToolError(new Response('why', { status: 404 }), 'No such cup');
  assert.equal(error.message, 'No such cup');
});
