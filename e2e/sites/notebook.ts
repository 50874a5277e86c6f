// A small notebook with a session token that only its own first request shows, and with a page whose policy lets
// scripts connect nowhere.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

const page = (title: string) => `<!doctype html><html><head><title>${title}</title>
<meta name="user" content="ada"><script>
  fetch('/api/session', { headers: { authorization: 'Bearer first-request' } }).catch(() => {});
  window.app = { store: { user: 'ada' } };
  localStorage.setItem('notes:last', '7');
  document.cookie = 'theme=dark%20blue';
</script></head><body><h1> Notebook </h1><ul><li>one</li><li>two</li></ul>
<pre>
first
  second
</pre></body></html>`;

// What an old library leaves behind, and an unfriendly page.
const hostile = `<!doctype html><title>Hostile</title><meta name="user" content="ada"><script>
  Object.prototype.leftover = 'not a function';
  Error.prototype.code = 'FORGED';
</script><h1>Hostile</h1>`;

// Applications know who is signed in a while after they show themselves.
const late = `<!doctype html><title>Late</title><script>
  setTimeout(() => { document.head.innerHTML += '<meta name="user" content="ada">' }, 400);
</script>`;

// It is ready for as long as it says so, and no longer: whoever only asks now and then never sees it.
const telling = `<!doctype html><html data-tells="yes"><title>Telling</title><script>
  setInterval(() => {
    const user = Object.assign(document.createElement('meta'), { name: 'user', content: 'ada' });
    document.head.append(user);
    document.dispatchEvent(new Event('notes:user'));
    user.remove();
  }, 50);
</script></html>`;

const signedOut = `<!doctype html><title>Signed out</title>
<form action="/"><label>Password <input type="password"></label><button>Sign in</button></form>`;

const notes = [
  { id: '1', text: 'buy tea' },
  { id: '2', text: 'read' },
];

export async function openNotebook(closing: Closing): Promise<string> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server.address())}`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://site.invalid');
  const html = (content: string, headers: Record<string, string> = {}) =>
    response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(content);
  const json = (value: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  switch (url.pathname) {
    case '/':
      return void html(page('Notebook'));
    case '/locked':
      return void html(page('Locked'), { 'content-security-policy': "connect-src 'none'" });
    case '/hostile':
      return void html(hostile);
    case '/without-storage':
      return void html(`${page('Without storage')}<script>delete window.localStorage</script>`);
    case '/telling':
      return void html(telling);
    case '/late':
      return void html(late);
    case '/signed-out':
      return void html(signedOut);
    case '/api/session':
      return void json({ user: 'ada' });
    case '/api/notes':
      return void json(notes.filter((note) => note.text.includes(url.searchParams.get('query') ?? '')));
    case '/api/export':
      return void response.end(notes.map((note) => note.text).join('\n'));
    case '/api/status':
      response.setHeader('retry-after', '2');
      return void json({ error: 'as you asked' }, Number(url.searchParams.get('status')));
    case '/api/empty':
      return void response.writeHead(204).end();
    case '/api/never':
      return;
    case '/api/broken':
      return void response.destroy();
    case '/api/echo':
      return void json({
        method: request.method,
        type: request.headers['content-type']?.split(';')[0] ?? null,
        body: (await text(request)).replaceAll('\r\n', '\n'),
      });
    default:
      return void json({ error: 'there is no such note' }, 404);
  }
}
