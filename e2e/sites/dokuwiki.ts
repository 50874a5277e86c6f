// A real DokuWiki: the one Debian packages, on PHP's own server, with pages, people and rules of its own. Nothing of it
// is a service of the machine.

import { createHash } from 'node:crypto';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { Closing } from '../stage/closing.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { run, start } from '../stage/process.ts';
import { answers } from './answers.ts';
import { Visitor } from './dokuwiki/visitor.ts';

const source = process.env.DOKUWIKI ?? '/usr/share/dokuwiki';
const defaults = '/etc/dokuwiki';
const php = path.join(import.meta.dirname, 'dokuwiki');

export const wikiPassword = 'correct horse battery';

/** Who has an account, and in which groups. */
const people = { alice: 'editor', bob: 'editor', root: 'admin' };

// 1 reads, 2 edits, 4 creates, 8 uploads, 16 deletes files.
const rules = `
*            @ALL     1
*            @editor  16
private:*    @ALL     0
private:*    @editor  0
rules:*      @editor  1
`;

export class TeamWiki {
  readonly url: string;
  readonly #folder: string;
  readonly #visitors = new Map<string, Promise<Visitor>>();

  constructor(url: string, folder: string) {
    this.url = url;
    this.#folder = folder;
  }

  /** Address of a page as a reader opens it. */
  page(id: string): string {
    return `${this.url}/doku.php?id=${encodeURIComponent(id)}`;
  }

  /** Somebody else with a browser of their own. */
  as(name: keyof typeof people): Promise<Visitor> {
    const known = this.#visitors.get(name) ?? Visitor.signIn(this.url, name, wikiPassword);
    this.#visitors.set(name, known);
    return known;
  }

  /** The source of a page, as it is on the disk; empty where there is none. */
  async text(id: string): Promise<string> {
    return (await this.as('root')).raw(id);
  }

  /** Lets the search find what was written: a browser asks for that with each page it shows. */
  async index(): Promise<void> {
    await run('php', [...this.#settings(), path.join(source, 'bin/indexer.php'), '-q'], this.#env());
  }

  /** From now on the wiki has these settings besides its own: lines of PHP. */
  async configure(lines: string): Promise<void> {
    await writeFile(path.join(this.#folder, 'conf/local.protected.php'), `<?php\n${lines}\n`);
  }

  /** Ends the person's lock of a page, as time does. */
  async unlock(id: string): Promise<void> {
    const name = createHash('md5').update(id).digest('hex');
    await rm(path.join(this.#folder, `data/locks/${name}.lock`), { force: true });
  }

  serve(): ReturnType<typeof start> {
    const address = ['-S', new URL(this.url).host, '-t', source];
    return start('php', [...this.#settings(), ...address], { ...this.#env(), PHP_CLI_SERVER_WORKERS: '3' });
  }

  #settings(): string[] {
    const all = [
      `auto_prepend_file=${php}/prepend.php`,
      `session.save_path=${this.#folder}/sessions`,
      // PHP's own cache of compiled files would look at a configuration that has changed only after two seconds.
      'opcache.enable=0',
      'sendmail_path=/bin/true',
    ];
    return all.flatMap((one) => ['-d', one]);
  }

  #env(): Record<string, string> {
    return { DOKUWIKI_FOLDER: this.#folder };
  }
}

/** A wiki with Alice and Bob, who edit, and an administrator; readers without an account see most of it. */
export async function openTeamWiki(closing: Closing): Promise<TeamWiki> {
  const folder = await temporaryFolder('dokuwiki', closing);
  const wiki = new TeamWiki(`http://127.0.0.1:${await freePort()}`, folder);
  await layOut(folder);
  const server = wiki.serve();
  closing.defer(() => server.stop());
  await answers(wiki.page('start'));
  return wiki;
}

const kinds = [
  'attic',
  'cache',
  'index',
  'locks',
  'log',
  'media',
  'media_attic',
  'media_meta',
  'meta',
  'pages',
  'tmp',
];

async function layOut(folder: string): Promise<void> {
  for (const kind of kinds) await mkdir(path.join(folder, 'data', kind), { recursive: true });
  await mkdir(path.join(folder, 'sessions'));
  const conf = path.join(folder, 'conf');
  // The package's own accounts are for its web server to read; these replace them.
  const own = new Set(['acl.auth.php', 'users.auth.php', 'local.php']);
  await cp(defaults, conf, { recursive: true, filter: (file) => !own.has(path.basename(file)) });
  await cp(path.join(php, 'local.php'), path.join(conf, 'local.php'));
  await writeFile(path.join(conf, 'acl.auth.php'), rules);
  const hash = createHash('sha1').update(wikiPassword).digest('hex');
  const accounts = Object.entries(people).map(
    ([name, group]) => `${name}:${hash}:${title(name)}:${name}@example.org:user,${group}`,
  );
  await writeFile(path.join(conf, 'users.auth.php'), `${accounts.join('\n')}\n`);
}

const title = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** What a person does: types name and password into the wiki's form. */
export async function signInToWiki(page: Page, wiki: TeamWiki, name: keyof typeof people): Promise<void> {
  await page.goto(`${wiki.page('start')}&do=login`);
  await page.getByLabel('Username').fill(name);
  await page.getByLabel('Password').fill(wikiPassword);
  await page.getByRole('button', { name: 'Log In' }).click();
  await expect(page.getByText('Logged in as:')).toBeVisible();
}
