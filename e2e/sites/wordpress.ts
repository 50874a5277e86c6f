// A real WordPress: the one Debian packages, on PHP's own server, with a MariaDB of its own. Nothing of it is a
// service of the machine.

import { mkdir, readdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { Closing } from '../stage/closing.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { type Program, run, start } from '../stage/process.ts';
import { answers } from './answers.ts';
import { openDatabase } from './mariadb.ts';

const source = process.env.WORDPRESS ?? '/usr/share/wordpress';
const php = path.join(import.meta.dirname, 'wordpress');

export const blogPassword = 'correct horse battery';

export class Blog {
  readonly url: string;
  readonly #database: Program;

  constructor(url: string, database: Program) {
    this.url = url;
    this.#database = database;
  }

  /** Comments on a post as a visitor does, with the form below it. */
  async comment(post: number, text: string): Promise<void> {
    const body = new URLSearchParams({
      author: 'A visitor',
      email: 'visitor@example.org',
      comment: text,
      comment_post_ID: String(post),
      comment_parent: '0',
    });
    const answer = await fetch(`${this.url}/wp-comments-post.php`, {
      method: 'POST',
      body,
      redirect: 'manual',
    });
    expect(answer.status).toBe(302);
  }

  /** What any visitor gets to read. */
  async reads(pathname: string): Promise<string> {
    return (await fetch(`${this.url}${pathname}`)).text();
  }

  /** Ends the database, as a crash does: WordPress then answers 500. */
  async loseDatabase(): Promise<void> {
    await this.#database.stop('SIGKILL');
  }
}

/** A blog with Alice (administrator), Bob (author) and Eve (subscriber). */
export async function openBlog(closing: Closing): Promise<Blog> {
  const folder = await temporaryFolder('blog', closing);
  const url = `http://127.0.0.1:${await freePort()}`;
  const database = await openDatabase(folder, 'wordpress', closing);
  await layOut(folder);
  const env = { BLOG_FOLDER: folder, BLOG_URL: url, BLOG_PASSWORD: blogPassword };
  const settings = [`auto_prepend_file=${php}/prepend.php`, 'sendmail_path=/bin/true'];
  const options = settings.flatMap((one) => ['-d', one]);
  await run('php', [...options, `${php}/install.php`], env);
  const server = start('php', [...options, '-S', new URL(url).host, '-t', `${folder}/root`], {
    ...env,
    PHP_CLI_SERVER_WORKERS: '3',
  });
  closing.defer(() => server.stop());
  await answers(`${url}/wp-login.php`);
  return new Blog(url, database);
}

/** The program files as links, and beside them what belongs to this blog. */
async function layOut(folder: string): Promise<void> {
  const root = path.join(folder, 'root');
  await mkdir(root);
  await mkdir(path.join(folder, 'content/uploads'), { recursive: true });
  await mkdir(path.join(folder, 'content/plugins'));
  const own = new Set(['wp-config.php', 'wp-content']);
  for (const name of await readdir(source)) {
    if (!own.has(name)) await symlink(path.join(source, name), path.join(root, name));
  }
  await symlink(path.join(php, 'wp-config.php'), path.join(root, 'wp-config.php'));
  await symlink(path.join(folder, 'content'), path.join(root, 'wp-content'));
  await symlink(path.join(source, 'wp-content/themes'), path.join(folder, 'content/themes'));
}

/** What a person does: types name and password into the site's form. */
export async function signInToBlog(page: Page, { url }: Blog, name: string): Promise<void> {
  await page.goto(`${url}/wp-login.php`);
  const user = page.getByLabel('Username or Email Address');
  // A moment after it has loaded the page puts the cursor there, and would take it away from the password.
  await expect(user).toBeFocused();
  await user.fill(name);
  await page.getByRole('textbox', { name: 'Password' }).fill(blogPassword);
  await page.getByRole('button', { name: 'Log In' }).click();
  await expect(page.getByText(`Howdy, ${name}`).first()).toBeVisible();
}
