// What the store edition of the extension may not have, looked for in the very files that are uploaded.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { repository } from '../product.ts';
import { findings } from '../text-as-code.ts';
import { buildStore } from './store.ts';

const built = buildStore();
after(() => built.remove());
const { files, text } = built;

test('no script of it makes code of text', () => {
  const scripts = files.filter((name) => name.endsWith('.js'));
  assert.ok(
    scripts.includes('worker.js') && scripts.some((name) => name.startsWith('adapters/browser-dev-')),
  );
  assert.deepEqual(
    scripts.flatMap((name) => findings(name, text(name))),
    [],
  );
});

test('its pages load scripts of the package only, and its policy allows no others', () => {
  for (const page of files.filter((name) => name.endsWith('.html')))
    for (const [tag, inside] of text(page).matchAll(/<script\b([^>]*)>/g))
      assert.match(inside ?? '', /^ src="[a-z]+\.js"$/, `${page}: ${tag}`);
  const { content_security_policy: policy } = JSON.parse(text('manifest.json'));
  assert.match(policy.extension_pages, /^default-src 'none'; script-src 'self';/);
  assert.doesNotMatch(policy.extension_pages, /unsafe|https?:|\*/);
  assert.deepEqual(Object.keys(policy), ['extension_pages']);
});

test('its manifest has what the unpacked edition has, but for the key, and the ways that it has instead', () => {
  const manifest = JSON.parse(text('manifest.json'));
  const { key, ...plain } = JSON.parse(
    readFileSync(path.join(repository, 'extension/manifest.json'), 'utf8'),
  );
  assert.equal(typeof key, 'string');
  assert.deepEqual(manifest, {
    ...plain,
    permissions: [...plain.permissions, 'nativeMessaging'],
    optional_permissions: [...plain.optional_permissions, 'userScripts'],
  });
});

test('each permission has its reason', () => {
  const { permissions, optional_permissions, host_permissions } = JSON.parse(text('manifest.json'));
  const reasons = readFileSync(path.join(repository, 'docs/permissions.md'), 'utf8');
  for (const name of [...permissions, ...host_permissions])
    assert.match(reasons, new RegExp(`^\\| \`${name}\` (?!\\(optional)[^|]*\\| [^|]{20}`, 'm'), name);
  for (const name of optional_permissions)
    assert.match(reasons, new RegExp(`^\\| \`${name}\` \\(optional[^|]*\\| [^|]{20}`, 'm'), name);
});

test('each permission is used, and nothing is used without one', () => {
  const { permissions, optional_permissions } = JSON.parse(text('manifest.json'));
  const code = files
    .filter((name) => /\.(?:js|html)$/.test(name))
    .map(text)
    .join('\n');
  for (const name of [...permissions, ...optional_permissions])
    assert.match(code, uses[name] ?? new RegExp(`chrome\\.${name}\\b`), name);
  const declared = new Set([...permissions, ...optional_permissions]);
  const asking = code.replaceAll('chrome.management.getSelf', ''); // which needs none, unlike the rest of it
  for (const [, used = ''] of asking.matchAll(/\bchrome\.(\w+)/g))
    assert.ok(declared.has(used) || free.has(used), `chrome.${used} needs a permission`);
});

/** How permissions are used whose interface has another name. */
const uses: Record<string, RegExp> = {
  favicon: /_favicon\//,
  declarativeNetRequestWithHostAccess: /chrome\.declarativeNetRequest\b/,
  nativeMessaging: /chrome\.runtime\.(?:connectNative|sendNativeMessage)\b/,
};
/** Interfaces without a permission, and one whose permission has another name. */
const free = new Set([
  'runtime',
  'action',
  'commands',
  'permissions',
  'windows',
  'i18n',
  'declarativeNetRequest',
]);

test('it brings the licence of every part, word for word', () => {
  const sources = ['LICENSE', ...licencesBelow('extension'), ...licencesBelow('adapters')];
  assert.ok(sources.length >= 4, String(sources));
  const brought = files.filter((name) => name === 'LICENSE' || name.startsWith('licenses/')).map(text);
  for (const source of sources)
    assert.ok(brought.includes(readFileSync(path.join(repository, source), 'utf8')), source);
});

function licencesBelow(part: string): string[] {
  return readdirSync(path.join(repository, part), { recursive: true, encoding: 'utf8' })
    .filter((name) => !/(?:^|\/)(?:node_modules|dist)\//.test(name))
    .filter((name) => /^(?:licen[cs]e|copying|notice|apache|mit)\b/i.test(path.basename(name)))
    .map((name) => path.join(part, name));
}

test('it brings every shipped plugin as a file', () => {
  const packaged: Record<string, { file: string }> = JSON.parse(text('adapters.json'));
  const shipped = readdirSync(path.join(repository, 'adapters/dist')).filter((name) => !name.startsWith('.'));
  assert.deepEqual(Object.keys(packaged).sort(), shipped.sort());
  for (const { file } of Object.values(packaged)) assert.ok(files.includes(file), file);
});

test('two builds are the same file, whatever the time zone and the umask', () => {
  const before = process.umask(0o077);
  const { TZ } = process.env;
  process.env.TZ = 'Asia/Tokyo';
  try {
    const second = buildStore();
    assert.ok(readFileSync(second.zip).equals(readFileSync(built.zip)));
    second.remove();
  } finally {
    process.umask(before);
    if (TZ === undefined) Reflect.deleteProperty(process.env, 'TZ');
    else process.env.TZ = TZ;
  }
});

const bad = [
  'eval(data)',
  '(0, eval)(data)',
  'const run = eval',
  'window["eval"](data)',
  'new Function(data)',
  'Function(data)()',
  'globalThis.Function(data)',
  '(async function () {}).constructor(data)',
  'const Make = (() => {}).constructor',
  'new (call.constructor)(data)',
  'Function.prototype.constructor(data)',
  'const { call } = Function',
  'setTimeout("run()", 1)',
  `setInterval(\`run(\${data})\`, 1)`,
  'importScripts(data)',
  'import(data)',
  'document.createElement("script")',
  'chrome.scripting.executeScript({ target, code: data })',
  'chrome.debugger.attach({ tabId })',
  'send("Runtime.evaluate", { expression: data })',
  'chrome.userScripts.execute({ js: [{ code: data }] })',
  'script.src = "https://cdn.example/a.js"',
  'location.href = "javascript:run()"',
];
for (const code of bad)
  test(`the check finds ${code}`, () => {
    assert.equal(findings('panel.js', code).length > 0, true);
  });

test('the check lets through what only looks like it', () => {
  const good = [
    'setTimeout(() => run(data), 1)',
    'chrome.scripting.executeScript({ target, files: ["a.js"] })',
    'const tools = { eval: 1, Function: 2 }',
    'value.constructor === Object',
    'value instanceof Function',
    'Function.prototype.call.bind(run)',
    'say("javascript:")',
    'typeof chrome.userScripts.execute',
    'import("./a.js")',
  ];
  for (const code of good) assert.deepEqual(findings('panel.js', code), [], code);
  assert.deepEqual(findings('worker.js', 'chrome.userScripts.register([script])'), []);
});
