// A real Tiny Tiny RSS: the one Debian packages, on PHP's own server, with a MariaDB of its own. The feeds it reads are
// made here. Nothing of it is a service of the machine.

import { cp, mkdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { Closing } from '../stage/closing.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { type Program, run, start } from '../stage/process.ts';
import { answers } from './answers.ts';
import { openDatabase } from './mariadb.ts';
import { Newsstand } from './newsstand.ts';

const source = process.env.TT_RSS ?? '/usr/share/tt-rss';
const php = path.join(import.meta.dirname, 'tt-rss');

export const readerPassword = 'correct-horse-battery';

export class Reader {
  readonly url: string;
  readonly news: Newsstand;
  readonly #database: Program;

  constructor(url: string, news: Newsstand, database: Program) {
    this.url = url;
    this.news = news;
    this.#database = database;
  }

  /** Ends the database, as a crash does. */
  async loseDatabase(): Promise<void> {
    await this.#database.stop('SIGKILL');
  }
}

/** A reader for the people named. */
export async function openReader(people: readonly string[], closing: Closing): Promise<Reader> {
  const folder = await temporaryFolder('rss', closing);
  const url = `http://127.0.0.1:${await freePort()}`;
  const database = await openDatabase(folder, 'ttrss', closing);
  const news = await Newsstand.open(closing);
  const root = await layOut(folder);
  const env = {
    READER_FOLDER: folder,
    READER_URL: url,
    READER_PROXY: news.proxy,
    READER_PASSWORD: readerPassword,
  };
  await run('php', [`${php}/install.php`, `${source}/schema/ttrss_schema_mysql.sql`, ...people], env);
  // It refuses to run as root, which it asks this function.
  const settings = ['-d', 'disable_functions=posix_getuid'];
  const server = start('php', [...settings, '-S', new URL(url).host, '-t', root], {
    ...env,
    PHP_CLI_SERVER_WORKERS: '3',
  });
  closing.defer(() => server.stop());
  await answers(url, {}, 'ttrss_login');
  return new Reader(url, news, database);
}

/** The program's own copy: it finds its configuration beside itself. */
async function layOut(folder: string): Promise<string> {
  const root = path.join(folder, 'root');
  await cp(path.join(source, 'www'), root, { recursive: true });
  await rm(path.join(root, 'config.php'));
  await symlink(path.join(php, 'config.php'), path.join(root, 'config.php'));
  for (const name of ['lock', 'icons']) await mkdir(path.join(folder, name));
  for (const name of ['export', 'feeds', 'images', 'js', 'simplepie', 'upload']) {
    await mkdir(path.join(folder, 'cache', name), { recursive: true });
  }
  return root;
}

/** What a person does: types name and password into the reader's form. */
export async function signInToReader(page: Page, { url }: Reader, name: string): Promise<void> {
  await page.goto(url);
  // The form's labels name no field.
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill(readerPassword);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByText('All articles').first()).toBeVisible();
}
