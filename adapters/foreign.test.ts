// Feeds every tool of every shipped plugin answers that its application never gives, each with status 200, and holds
// it to one rule: a failure, and never a success that claims that there is nothing. What runs is the built adapter;
// which tools there are is taken from its manifest.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { isObject, type JsonObject, jsonReader } from '@tabrelay/plugin-sdk/json';
import { Window } from 'happy-dom';

const dist = path.join(import.meta.dirname, 'dist');
const origin = 'http://app.test';

interface Answer {
  body: string;
  type?: string;
}

interface Application {
  /** The page that is open. */
  page?: string;
  storage?: Record<string, string>;
  /** Where its person signs in; undefined for an application without a session. */
  signIn?: string;
  /** What it answers before it is asked what the tool is about: who is there, and which token to use. */
  greets?: (url: URL) => Answer | undefined;
  /** Arguments of tools that need one of several. */
  arguments?: Record<string, JsonObject>;
  /** Of the foreign answers, those that it may give a tool. */
  gives?: Record<string, string>;
  /** Answers that look like its own for a while. */
  nearly: unknown[];
}

const token = `e30.${btoa(JSON.stringify({ exp: 4_000_000_000 }))}.`;
const webmail = { task: 'mail', request_token: 'x', mailboxes: { INBOX: { id: 'INBOX', name: 'Inbox' } } };
const html = (body: string): Answer => ({ body, type: 'text/html' });
const json = (value: unknown): Answer => ({ body: JSON.stringify(value), type: 'application/json' });

const applications: Record<string, Application> = {
  mediawiki: {
    page: `<link rel="EditURI" href="${origin}/api.php?action=rsd">`,
    signIn: `${origin}/index.php?title=Special:UserLogin`,
    greets: ({ searchParams }) =>
      searchParams.get('meta') === 'tokens'
        ? json({ batchcomplete: true, query: { tokens: { csrftoken: 'x', watchtoken: 'x' } } })
        : undefined,
    nearly: [
      { batchcomplete: true },
      { batchcomplete: true, query: {} },
      { batchcomplete: true, query: [] },
      { batchcomplete: true, query: { pages: [] } },
      { batchcomplete: true, query: { pages: [{}] } },
      { batchcomplete: true, query: { pages: [{ title: 'x' }] } },
      { query: { pages: [{ title: 'x', pageid: 1, ns: 0 }] } },
      { batchcomplete: true, query: { search: [{}], allimages: [{}], watchlist: [{}], recentchanges: [{}] } },
      { query: { search: [], allimages: [], watchlist: [], recentchanges: [], categorymembers: [] } },
      { batchcomplete: true, query: { search: {}, allimages: {}, watchlist: {}, recentchanges: {} } },
      { batchcomplete: true, query: { userinfo: {}, general: {} } },
      ...[{ parse: {} }, { parse: { title: 'x', sections: [], text: 7 } }, { compare: {} }, { watch: [{}] }],
      ...[{ edit: {} }, { edit: { result: 'Success' } }, { edit: { result: 'Success', title: 'x' } }],
      ...[{ upload: {} }, { upload: { result: 'Success', imageinfo: {} } }, { errors: [] }, { errors: {} }],
    ],
  },
  dokuwiki: {
    page: `<script src="${origin}/lib/exe/js.php"></script>`,
    signIn: `${origin}/doku.php?do=login`,
    arguments: { edit_page: { text: 'x' } },
    nearly: [
      { ACT: 'show' },
      ...[
        { id: 'x', success: 'true' },
        { success: true, id: 7 },
      ],
      ...['', 'JSINFO = {"ACT":', 'var JSINFO = {};', 'var JSINFO = {"id":"x"};', 'var JSINFO = {"ACT":7};'],
    ],
  },
  wordpress: {
    page: `<link rel="https://api.w.org/" href="${origin}/wp-json/">`,
    signIn: `${origin}/wp-login.php`,
    arguments: { upload_media: { text: 'x' } },
    greets: ({ pathname, searchParams }) => {
      if (pathname.endsWith('admin-ajax.php')) return html('0123456789');
      return searchParams.get('_fields') === 'url' ? json({ url: origin }) : undefined;
    },
    nearly: [
      { status: 200 },
      { status: '200', body: [], headers: {} },
      { status: 200, body: {}, headers: {} },
      { status: 200, body: [], headers: {} },
      { status: 200, body: [{}], headers: { 'X-WP-Total': 1 } },
      { status: 200, body: null, headers: { 'X-WP-Total': 0 } },
      { status: 200, body: { id: '7', title: {}, status: 'draft' }, headers: {} },
      { status: 400, body: {}, headers: [] },
    ],
  },
  roundcube: {
    page: '<script src="program/js/app.min.js"></script>',
    signIn: `${origin}/?_task=login`,
    greets: ({ searchParams }) =>
      searchParams.get('_task') === 'mail' && !searchParams.has('_action')
        ? html(`<script>rcmail.set_env(${JSON.stringify(webmail)});</script>`)
        : undefined,
    nearly: [
      { exec: '' },
      { action: 'other', exec: '' },
      { action: 'list', exec: '' },
      { action: 'list', env: {}, exec: '' },
      { action: 'list', env: { pagesize: 50, messagecount: '1', exists: 1, pagecount: 1 }, exec: '' },
      { action: 'list', env: { pagesize: 50, messagecount: 3, exists: 3, pagecount: 1 }, exec: '' },
    ],
  },
  'tt-rss': {
    page: '<body class="flat ttrss_main ttrss_index"></body>',
    signIn: `${origin}/index.php`,
    arguments: { edit_feed: { name: 'x' }, catch_up: { special: 'all' } },
    gives: { preview_filter: '[]' }, // nothing matches
    greets: ({ pathname }) =>
      pathname.endsWith('/index.php')
        ? html('<body class="flat ttrss_main"><script>const __csrf_token = "0123456789";</script>')
        : undefined,
    nearly: [
      { items: [] },
      { items: [{}] },
      { items: [{ id: 'CAT:x', bare_id: 'x', name: 'x', items: [] }] },
      { items: [{ id: 'CAT:1', bare_id: 1, name: 'x' }] },
      { items: [{ items: [{ bare_id: 1 }] }] },
      { counters: {} },
      { counters: [{}] },
      { result: {} },
      { result: { code: '1' } },
      { error: {} },
      { headlines: {}, 'init-params': {} },
      { title: 'x', link: 7 },
      [7],
    ],
  },
  pocketbase: {
    storage: { __pb_superuser_auth__: JSON.stringify({ token }) },
    signIn: `${origin}/_/#/login`,
    nearly: [
      { items: [] },
      { items: [], page: 1, totalItems: '0', totalPages: 0 },
      { items: {}, page: 1, totalItems: 0, totalPages: 0 },
      { items: [{}], page: 1, totalItems: 1, totalPages: 1 },
      { items: [{ id: 7 }], page: 1, totalItems: 1, totalPages: 1 },
      { message: 'API is healthy.' },
      { name: 'x', type: 'base' },
    ],
  },
  'node-red': {
    storage: { 'auth-tokens': '{"access_token":"x"}' },
    signIn: `${origin}/`,
    arguments: { update_node: { settings: { name: 'x' } } },
    gives: { read_context: '{"data":{}}' }, // a context store may have any name
    nearly: [{ flows: [] }, { flows: {}, rev: 'x' }, { flows: [{}], rev: 'x' }, { flows: [], rev: 7 }, [{}]],
  },
  prometheus: {
    signIn: `${origin}/`,
    nearly: [
      { status: 'success' },
      { status: 'success', data: null },
      { status: 'success', data: 7 },
      { status: 'success', data: {} },
      { status: 'success', data: [{ a: 1 }] },
      { status: 'success', data: { resultType: 'vector' } },
      { status: 'success', data: { resultType: 'vector', result: [{}] } },
      { status: 'success', data: { alerts: [{}], groups: [{}], activeTargets: [{}] } },
      { data: [] },
      { status: 'error', data: [] },
    ],
  },
  demo: { nearly: [{ value: '7', asked: 7 }, { pages: [{}] }, { pages: {} }] },
};

const loginPage = html(
  '<!DOCTYPE html><form method="post"><input name="user"><input type="password"></form>',
);
const otherPage = html('<!DOCTYPE html><h1>Down for maintenance</h1>');

const foreign: Answer[] = [
  ...[{}, [], null, 'x', '', 7, '7', true, [[]], [{}], [null], ['x'], { data: {} }, { data: [] }].map(json),
  ...[{ error: 'no' }, { error: { code: 1 } }, { result: [] }, { status: 'ok' }, { success: true }].map(json),
  { body: '' },
  { body: '', type: 'text/html' },
  { body: 'OK so far', type: 'text/plain' },
  { body: '{"items":[', type: 'application/json' },
  otherPage,
];

interface Run {
  failure: unknown;
  value: unknown;
  /** How often the application was asked for something other than a greeting. */
  asked: number;
}

type Play = (tool: string, args: JsonObject, answer: (url: URL) => Answer) => Promise<Run>;

/** Opens an application's page. Each call has a bundle of its own: of what was asked before, nothing is known. */
function open(plugin: string): Play {
  const { page = '', storage = {}, greets } = applications[plugin] ?? { nearly: [] };
  const window = new Window({ url: `${origin}/` });
  window.document.write(page);
  for (const [key, value] of Object.entries(storage)) window.localStorage.setItem(key, value);
  const { document, location, localStorage, DOMParser, Node } = window;
  const lent = { window, document, location, localStorage, DOMParser, Node, WebSocket: undefined };
  const code = readFileSync(path.join(dist, plugin, 'adapter.js'), 'utf8');
  const load = new Function('fetch', ...Object.keys(lent), `${code};return tabrelayPlugin`);
  return async (tool, args, answer) => {
    let asked = 0;
    const fetch = (input: string | URL | Request): Promise<Response> => {
      const request = new Request(input);
      const url = new URL(request.url);
      const greeting = greets?.(url);
      if (greeting === undefined) asked++;
      const { body, type = 'text/plain' } = greeting ?? answer(url);
      const response = new Response(body, { headers: { 'content-type': type } });
      return Promise.resolve(Object.defineProperty(response, 'url', { value: request.url }));
    };
    const call = async () => {
      const definition = jsonReader(load(fetch, ...Object.values(lent))).at('default');
      const found = definition.list('tools').find((one) => one.string('name') === tool);
      assert.ok(found, tool);
      const gated = found.maybe('signIn')?.value !== false;
      const isSignedIn = gated ? definition.maybe('signIn', 'isSignedIn')?.value : undefined;
      if (typeof isSignedIn === 'function') assert.equal(await isSignedIn(), true, 'nobody is signed in');
      const handle = found.at('handle').value;
      assert.ok(typeof handle === 'function');
      return await handle(args, context);
    };
    try {
      return { value: await call(), failure: undefined, asked };
    } catch (failure) {
      return { value: undefined, failure, asked };
    }
  };
}

const quiet = () => {};
const context = {
  signal: new AbortController().signal,
  reportProgress: quiet,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  settings: {},
  tab: { id: 1, url: origin },
  frame: { url: origin, top: true },
  idempotencyKey: 'test',
};

/** Arguments that a tool's schema accepts: what is required, as small as may be, besides what has a default. */
function argumentsFor(schema: JsonObject): JsonObject {
  const { properties, required } = schema;
  const wanted = Array.isArray(required) ? required : [];
  const entries = Object.entries(isObject(properties) ? properties : {});
  return Object.fromEntries(
    entries.flatMap(([name, property]) =>
      isObject(property) && wanted.includes(name) ? [[name, valueFor(name, property)]] : [],
    ),
  );
}

function valueFor(name: string, property: JsonObject): unknown {
  if ('default' in property) return property.default;
  if (Array.isArray(property.enum)) return property.enum[0];
  switch (property.type) {
    case 'integer':
    case 'number':
      return typeof property.minimum === 'number' ? Math.max(property.minimum, 1) : 1;
    case 'boolean':
      return true;
    case 'array':
      return [isObject(property.items) ? valueFor(name, property.items) : 'x'];
    case 'object':
      return argumentsFor(property);
  }
  const pattern = new RegExp(typeof property.pattern === 'string' ? property.pattern : '');
  const { minLength = 1 } = property;
  const found = ['x', 'xxxx', '1', 'x.txt', 'http://x'].find(
    (text) => pattern.test(text) && text.length >= Number(minLength),
  );
  return found ?? assert.fail(`no value for ${name}: add one that its pattern takes`);
}

const codeOf = (failure: unknown) => (isObject(failure) ? failure.code : undefined);
const messageOf = (failure: unknown) => (failure instanceof Error ? failure.message : String(failure));

// The browser's own tools ask no application.
const ofTheBrowser = ['browser', 'browser-dev'];
const plugins = readdirSync(dist).filter((name) => !name.startsWith('.') && !ofTheBrowser.includes(name));

test('every shipped plugin has an application here', () => {
  assert.deepEqual(plugins.toSorted(), Object.keys(applications).toSorted());
});

for (const plugin of plugins) {
  const file = path.join(dist, plugin, 'manifest.json');
  const manifest = jsonReader(JSON.parse(readFileSync(file, 'utf8')));
  const application = applications[plugin] ?? { nearly: [] };
  const play = open(plugin);
  for (const declared of manifest.list('tools')) {
    const name = declared.string('name');
    const full = `${plugin}__${name}`;
    const args = { ...argumentsFor(declared.object('inputSchema')), ...application.arguments?.[name] };
    test(`${full}: a foreign answer is a failure`, async () => {
      for (const answer of [...foreign, ...application.nearly.map(json)]) {
        const { failure, value, asked } = await play(name, args, () => answer);
        if (answer.body === application.gives?.[name]) continue;
        if (asked === 0) {
          assert.ok(plugin === 'demo', `it asks nobody: ${messageOf(failure)}`);
          return;
        }
        const got = `${answer.body} became ${failure ? messageOf(failure) : JSON.stringify(value)}`;
        assert.ok(failure !== undefined, got);
        assert.equal(codeOf(failure), 'INVALID_RESPONSE', got);
      }
    });
    test(`${full}: a page to sign in on is AUTH_ERROR with its address`, async () => {
      const { failure, asked } = await play(name, args, () => loginPage);
      if (asked === 0) return;
      if (application.signIn === undefined) return assert.equal(codeOf(failure), 'INVALID_RESPONSE');
      assert.equal(codeOf(failure), 'AUTH_ERROR', messageOf(failure));
      assert.ok(messageOf(failure).includes(application.signIn), messageOf(failure));
    });
  }
}
