// A real PocketBase, built from its Go module, with a small database of books.

import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Closing } from '../stage/closing.ts';
import { repository, temporaryFolder } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { run, start } from '../stage/process.ts';
import { answers } from './answers.ts';

const binary = path.join(repository, 'e2e/.cache/pocketbase-v0.36.0/base');

export const superuser = { email: 'alice@example.com', password: 'correct horse battery' } as const;

// A collection whose server-side code is broken.
const hook = `onRecordCreateRequest(() => { throw new ApiError(500, 'The shelf has collapsed.') }, 'fragile')`;

const own = { type: 'autodate', onCreate: true } as const;
const collections = [
  {
    name: 'authors',
    type: 'base',
    fields: [{ name: 'name', type: 'text', required: true }],
  },
  {
    name: 'books',
    type: 'base',
    listRule: '',
    fields: [
      { name: 'title', type: 'text', required: true, max: 80 },
      { name: 'blurb', type: 'editor' },
      { name: 'pages', type: 'number', min: 1 },
      { ...own, name: 'created' },
      { ...own, name: 'updated', onUpdate: true },
    ],
  },
  { name: 'fragile', type: 'base', fields: [{ name: 'name', type: 'text' }] },
];

const Session = z.object({ token: z.string() });

export class PocketBase {
  readonly url: string;
  #token = '';

  constructor(url: string) {
    this.url = url;
  }

  /** Where a person works. */
  get dashboard(): string {
    return `${this.url}_/`;
  }

  /** A request of the superuser's, past the browser. */
  async send(method: string, place: string, body?: unknown): Promise<unknown> {
    const headers = { 'content-type': 'application/json', authorization: this.#token };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${this.url}api/${place}`, { method, headers, ...sent });
    if (!response.ok) throw new Error(`${place} answered ${response.status}: ${await response.text()}`);
    return response.json();
  }

  async signIn(): Promise<unknown> {
    const session = await this.send('POST', 'collections/_superusers/auth-with-password', {
      identity: superuser.email,
      password: superuser.password,
    });
    this.#token = Session.parse(session).token;
    return session;
  }

  async fill(): Promise<void> {
    for (const collection of collections) await this.send('POST', 'collections', collection);
    const books: [title: string, blurb: string, pages: number][] = [
      ['The fox', `<p>${'A fox runs. '.repeat(60)}</p>`, 120],
      ["The owl's night", '<p>An owl.</p>', 80],
      ['The hare', '<p>Faster than the fox.</p>', 40],
    ];
    for (const [title, blurb, pages] of books) {
      await this.send('POST', 'collections/books/records', { title, blurb, pages });
    }
    const password = 'a long password';
    const user = { email: 'reader@example.com', name: 'Robin', password, passwordConfirm: password };
    await this.send('POST', 'collections/users/records', user);
  }
}

export async function openPocketBase(closing: Closing): Promise<PocketBase> {
  if (!existsSync(binary)) throw new Error(`${binary} does not exist. Run "make applications" first.`);
  const folder = await temporaryFolder('pocketbase', closing);
  const hooks = path.join(folder, 'hooks');
  await mkdir(hooks);
  await writeFile(path.join(hooks, 'main.pb.js'), hook);
  const dir = ['--dir', path.join(folder, 'data'), '--automigrate=false'];
  await run(binary, ['superuser', 'upsert', superuser.email, superuser.password, ...dir]);
  const host = `127.0.0.1:${await freePort()}`;
  const server = start(binary, [
    'serve',
    `--http=${host}`,
    '--hooksDir',
    hooks,
    '--hooksWatch=false',
    ...dir,
  ]);
  closing.defer(() => server.stop());
  const pocketbase = new PocketBase(`http://${host}/`);
  await answers(`${pocketbase.url}api/health`);
  await pocketbase.signIn();
  await pocketbase.fill();
  return pocketbase;
}
