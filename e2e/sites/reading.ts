// Pages to be read: one with everything a reader may stumble over, and some that make it hard.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

// What a document keeps aside: it is in the markup, and in no search of the document.
const inside = (outer: string) => `<p>kept ${outer}</p><img name="implementation"><img name="body">
<input type="hidden" value="hidden-secret"><input type="password" value="password-secret"><input value="visible ${outer}">
<label>Password <input value="labelled-secret"></label><textarea name="api_key">typed-secret</textarea>
<meta name="csrf-token" content="meta-secret"><script>const state = 'script-secret';</script>`;
const quoted = (markup: string) => markup.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
const aside = `<template>${inside('in template')}<template>${inside('in its template')}</template></template>
<div hidden><noscript>${inside('without scripts')}</noscript></div>
<iframe style="display:none" srcdoc="${quoted(`${inside('in srcdoc')}<iframe srcdoc="${quoted(inside('in its srcdoc'))}"></iframe>`)}"></iframe>`;

const article = `<!doctype html><title>Tea for two</title>
<meta name="csrf-token" content="meta-secret">
<script>const state = { token: 'script-secret' };</script>
<style>.hidden { display: none }</style>
<h1>How to make tea</h1>
<p>Boil the water.</p><p class="hidden">never shown</p>
<form><input type="hidden" name="csrf" value="hidden-secret"><input type="password" value="password-secret"><input value="visible"></form>
<div id="host"></div>
INSIDE
<iframe src="FRAME" width="300" height="100"></iframe>
<iframe src="/secret-frame" style="display:none"></iframe>
<script>document.querySelector('#host').attachShadow({ mode: 'open' }).innerHTML = '<p>From the shadow</p>';</script>`;

const vandal = `<!doctype html><title>Vandal</title><p>true words</p><img name="body"><form name="documentElement"></form>
<script>
  for (const [prototype, name] of [[HTMLElement.prototype, 'innerText'], [Node.prototype, 'textContent'], [Element.prototype, 'outerHTML']])
    Object.defineProperty(prototype, name, { get: () => 'forged words', set() {} });
  Element.prototype.querySelectorAll = Document.prototype.importNode = () => { throw new Error('vandal'); };
  JSON.stringify = () => '"forged"'; Object.getOwnPropertyDescriptor = () => undefined; String.prototype.trim = () => 'forged words';
</script>`;

const noisy = `<!doctype html><title>Noisy</title><button onclick="
  console.error('first trouble', { code: 7 }, new Error('inner')); console.warn('Authorization: Bearer abcdefghijklmnop');
  console.log('not worth it'); setTimeout(() => { throw new TypeError('uncaught one'); });
  Promise.reject(new Error('rejected one'));">make trouble</button>`;

const huge = () =>
  `<!doctype html><title>Huge</title>${Array.from({ length: 125_000 }, (_, i) => `<p>paragraph number ${i} with <b>some</b> words so that it is about a hundred characters long</p>`).join('\n')}<p>the very end</p>`;

const strict =
  "default-src 'none'; script-src 'none'; style-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'; sandbox";

const pages: Record<string, () => { body: string; csp?: string; type?: string }> = {
  '/vandal': () => ({ body: vandal }),
  '/noisy': () => ({ body: noisy }),
  '/huge': () => ({ body: huge() }),
  '/strict': () => ({ body: `<!doctype html><title>Strict</title><p>strict words</p>${aside}`, csp: strict }),
  '/plain': () => ({ body: 'just text <b>not bold</b>', type: 'text/plain' }),
  '/frame': () => ({ body: '<title>Frame</title><p>words of the frame</p>' }),
  '/secret-frame': () => ({ body: '<p>nobody sees this</p>' }),
  '/busy': () => ({
    body: '<!doctype html><title>Busy</title><p>busy<script>onclick = () => { console.log(0); for (;;); };</script>',
  }),
};

/** Opens the site and returns its address. Its frames come from the same port of another host name. */
export async function openReadingSite(closing: Closing): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const frame = `http://localhost:${portOf(server.address())}/frame?token=frame-secret`;
    const page = pages[pathname]?.() ?? { body: article.replace('INSIDE', aside).replace('FRAME', frame) };
    const type = page.type ?? 'text/html';
    response.writeHead(200, {
      'content-type': type,
      ...(page.csp && { 'content-security-policy': page.csp }),
    });
    response.end(page.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server.address())}`;
}
