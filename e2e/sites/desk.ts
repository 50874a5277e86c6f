// A site of desks. Its server knows who is signed in, from a cookie, and keeps each note with the account and the desk
// it was written at: what a call really did, whatever it was told.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';

interface Note {
  note: string;
  account: string;
  desk: string;
}

export interface DeskSite {
  url: string;
  /** In the order of their arrival. */
  notes: readonly Note[];
  /** Signs a browser in that goes there, and shows a desk. */
  signIn(account: string, desk: string): string;
  desk(desk: string): string;
}

export async function openDeskSite(closing: Closing): Promise<DeskSite> {
  const notes: Note[] = [];
  const server = createServer((request, answer) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://desk');
    const account = /(?:^|; )account=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? 'nobody';
    const [, desk = '', note] = /^\/desk\/(\w+)(?:\/notes\/([a-z0-9-]+)|\/who)?$/.exec(pathname) ?? [];
    if (pathname === '/sign-in') {
      const cookie = `account=${searchParams.get('as')}; Path=/; HttpOnly; Max-Age=86400`;
      answer.writeHead(302, { 'set-cookie': cookie, location: `/desk/${searchParams.get('desk')}` }).end();
    } else if (request.method === 'POST' && note !== undefined) {
      notes.push({ note, account, desk });
      answer.end(account);
    } else if (pathname.endsWith('/who')) {
      answer.end(account);
    } else {
      answer.setHeader('content-type', 'text/html');
      answer.end(
        `<!doctype html><title>Desk ${desk} of ${account}</title><h1>Desk ${desk} of ${account}</h1>`,
      );
    }
  });
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${portOf(server.address())}`;
  return {
    url,
    notes,
    signIn: (account, desk) => `${url}/sign-in?as=${account}&desk=${desk}`,
    desk: (desk) => `${url}/desk/${desk}`,
  };
}
