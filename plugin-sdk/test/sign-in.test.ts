import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import {
  definePlugin,
  fetchFromPage,
  fetchJSON,
  fetchText,
  looksSignedOut,
  lostSession,
  postJSON,
  type SignIn,
  ToolError,
  withFreshToken,
} from '../src/index.ts';

const loginPage = '<form action="/login"><input name="user"><INPUT name=pw type=password></form>';
const otherPage = '<h1>Down for maintenance</h1>';

let answers: [body: string, type: string][] = [];

beforeEach(() => {
  Object.assign(globalThis, { location: new URL('https://shop.example/app/') });
  mock.method(globalThis, 'fetch', () => {
    const [body, type] = answers.shift() ?? ['', 'text/plain'];
    return Promise.resolve(new Response(body, { headers: { 'content-type': type } }));
  });
});
afterEach(() => {
  mock.restoreAll();
  definePlugin({ tools: [] });
});

const site = 'https://shop.example/api';

const plugin = (signIn: SignIn) => definePlugin({ tools: [], signIn });

async function failure(action: Promise<unknown>): Promise<ToolError> {
  const error: unknown = await action.then(
    () => assert.fail('it succeeded'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ToolError, String(error));
  return error;
}

test('a page with a password field in place of JSON is a lost session', async () => {
  plugin({ isSignedIn: () => true, loginUrl: '/login' });
  for (const [send, outcome, next] of [
    [() => fetchJSON(site), 'not_executed', /then call again/],
    [() => postJSON(site, {}), 'unknown', /look at what is there before you repeat/],
  ] as const) {
    answers = [[loginPage, 'text/html']];
    const error = await failure(send());
    assert.deepEqual([error.code, error.category, error.outcome], ['AUTH_ERROR', 'auth', outcome]);
    assert.match(error.message, /sign in at https:\/\/shop\.example\/login,/);
    assert.match(error.message, next);
  }
});

test('a write that is answered with a page to sign in on is not sent again with a new token', async () => {
  const isLoginPage = (html: string) => html.includes('Who are you?');
  for (const [signIn, page] of [
    [{ loginUrl: '/login' }, loginPage],
    [{ loginUrl: '/login', isLoginPage }, 'Who are you?'],
  ] as const) {
    plugin(signIn);
    for (const [method, sent, outcome] of [
      ['GET', 2, 'not_executed'],
      ['HEAD', 2, 'not_executed'],
      ['POST', 1, 'unknown'],
      ['PUT', 1, 'unknown'],
      ['DELETE', 1, 'unknown'],
    ] as const) {
      answers = [
        [page, 'text/html'],
        [page, 'text/html'],
      ];
      const send = () => fetchJSON(site, { method });
      assert.equal((await failure(withFreshToken({ get: async () => 1 }, send))).outcome, outcome, method);
      assert.equal(answers.length, 2 - sent, method);
    }
  }
});

test('what an answer means to a plugin that reads pages goes by whether it was a write', () => {
  plugin({ loginUrl: '/login' });
  assert.equal(lostSession(loginPage)?.outcome, 'not_executed');
  assert.equal(lostSession(loginPage, 'unknown')?.outcome, 'unknown');
});

test('another page in place of JSON is not, and nobody knows what a write did', async () => {
  plugin({ loginUrl: '/login' });
  answers = [
    [otherPage, 'text/html'],
    [otherPage, 'text/html'],
  ];
  const read = await failure(fetchJSON(site));
  assert.deepEqual([read.code, read.outcome], ['INVALID_RESPONSE', undefined]);
  const write = await failure(postJSON(site, {}));
  assert.deepEqual([write.code, write.outcome], ['INVALID_RESPONSE', 'unknown']);
});

test('a plugin without a way to sign in says what it got', async () => {
  answers = [[loginPage, 'text/html']];
  assert.equal((await failure(fetchJSON(site))).code, 'INVALID_RESPONSE');
});

test('a plugin that knows its login page finds it in every page that the site answers', async () => {
  plugin({ loginUrl: () => '../login', isLoginPage: (html) => html.includes('Who are you?') });
  for (const send of [() => fetchText(site), () => fetchFromPage(site), () => fetchJSON(site)]) {
    answers = [['Who are you?', 'text/html; charset=utf-8']];
    const error = await failure(send());
    assert.equal(error.code, 'AUTH_ERROR');
    assert.match(error.message, /https:\/\/shop\.example\/login/);
  }
  answers = [
    ['Who are you?', 'text/plain'],
    [otherPage, 'text/html'],
  ];
  assert.equal(await fetchText(site), 'Who are you?');
  assert.equal(await fetchText(site), otherPage);
});

test('explain sees a successful answer that is no JSON, and goes first', async () => {
  plugin({ loginUrl: '/login' });
  answers = [[loginPage, 'text/html']];
  const seen: string[] = [];
  const explain = async (response: Response) => {
    seen.push(await response.text());
    return ToolError.auth('The vault is locked');
  };
  assert.equal((await failure(fetchJSON(site, { explain }))).message, 'The vault is locked');
  assert.deepEqual(seen, [loginPage]);
  answers = [['{"a":1}', 'application/json']];
  assert.deepEqual(await fetchJSON(site, { explain }), { a: 1 });
});

test('a token that is not taken is asked for anew, once', async () => {
  const given: string[] = [];
  let kept: string | undefined;
  const token = {
    get: () => {
      kept ??= `token ${given.push('')}`;
      return Promise.resolve(kept);
    },
    forget: () => {
      kept = undefined;
    },
    isRefused: (error: unknown) => error instanceof Error && error.message === 'refused',
  };
  const taking = (good: string) => (sent: string) =>
    sent === good ? Promise.resolve(sent) : Promise.reject(new Error('refused'));
  assert.equal(await withFreshToken(token, taking('token 2')), 'token 2');
  assert.equal(await withFreshToken(token, taking('token 2')), 'token 2');
  await assert.rejects(withFreshToken(token, taking('none')), /refused/);
  assert.equal(given.length, 3);
  const other = () => Promise.reject(new Error('other'));
  await assert.rejects(withFreshToken(token, other), /other/);
  assert.equal(given.length, 3);
});

for (const [status, asked] of [
  [401, 2],
  [403, 2],
  [419, 2],
  [400, 1],
  [500, 1],
] as const) {
  test(`an answer with status ${status} lets a token be asked for ${asked === 1 ? 'once' : 'anew'}`, async () => {
    let given = 0;
    mock.method(globalThis, 'fetch', () => Promise.resolve(new Response('no', { status })));
    await failure(withFreshToken({ get: async () => ++given }, () => postJSON(site, {})));
    assert.equal(given, asked);
  });
}

test('a page with a password field, or one that the plugin knows, looks signed out', () => {
  definePlugin({
    tools: [],
    signIn: { loginUrl: '/login', isLoginPage: (html) => html.includes('id="sso"') },
  });
  assert.equal(looksSignedOut('<form><input name="p" type=password></form>'), true);
  assert.equal(looksSignedOut('<div id="sso"></div>'), true);
  assert.equal(looksSignedOut('<h1>Teas</h1><input type="text">'), false);
  definePlugin({ tools: [] });
  assert.equal(looksSignedOut('<div id="sso"></div>'), false);
});
