// A real webmail: Roundcube and Dovecot as Debian packages them, and a small SMTP server. Nothing of it is a service of
// the machine.

import { chmod, chown, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { expect } from '@playwright/test';
import type { Closing } from '../stage/closing.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { type Program, run, start } from '../stage/process.ts';
import { answers } from './answers.ts';
import { byDovecot, type Delivery, openPostman } from './postman.ts';

const root = process.env.ROUNDCUBE ?? '/var/lib/roundcube/public_html';
const defaults = '/etc/roundcube';
const php = path.join(import.meta.dirname, 'roundcube');

export const mailPassword = 'correct-horse-battery';

export class Mail {
  readonly url: string;
  readonly #folder: string;
  readonly #deliver: Delivery;
  readonly #dovecot: Program;

  constructor(url: string, folder: string, deliver: Delivery, dovecot: Program) {
    this.url = url;
    this.#folder = folder;
    this.#deliver = deliver;
    this.#dovecot = dovecot;
  }

  /** Puts a message into somebody's inbox, as the mail of the world arrives. */
  deliver(name: string, message: string): Promise<void> {
    return this.#deliver(name, message.replaceAll(/\r?\n/g, '\r\n'));
  }

  /** The messages in somebody's folder, as Dovecot keeps them: the inbox is the one without a name. */
  async messages(name: string, folder = ''): Promise<string[]> {
    const maildir = path.join(this.#folder, 'mail', name, folder === '' ? '' : `.${folder}`);
    const within = async (part: string): Promise<string[]> => {
      const names = await readdir(path.join(maildir, part)).catch(() => []);
      return Promise.all(names.map((file) => readFile(path.join(maildir, part, file), 'utf8')));
    };
    return [...(await within('new')), ...(await within('cur'))];
  }

  /** From now on a person may send one message in so many seconds. */
  async slowDown(seconds: number): Promise<void> {
    await writeFile(path.join(this.#folder, 'more.php'), `<?php $config['sendmail_delay'] = ${seconds};`);
  }

  /** Ends Dovecot: Roundcube then has no mail to show. */
  async loseImap(): Promise<void> {
    await this.#dovecot.stop();
  }
}

/** Webmail for the people named, at example.org. */
export async function openMail(people: readonly string[], closing: Closing): Promise<Mail> {
  const folder = await temporaryFolder('mail', closing);
  const imap = await freePort();
  const configuration = await writeDovecot(folder, imap);
  const dovecot = start('dovecot', ['-F', '-c', configuration]);
  closing.defer(() => dovecot.stop());
  // Its delivery agent asks it where people's mail is.
  await expect.poll(() => greets(imap), { message: 'Dovecot answers' }).toBe(true);
  const deliver = byDovecot(configuration);
  const smtp = await openPostman(people, deliver, closing);
  await layOut(folder);
  const url = `http://127.0.0.1:${await freePort()}`;
  const server = start('php', ['-S', new URL(url).host, '-t', root], {
    ROUNDCUBE_CONFIG_DIR: path.join(folder, 'config'),
    MAIL_FOLDER: folder,
    MAIL_IMAP: String(imap),
    MAIL_SMTP: String(smtp),
    PHP_CLI_SERVER_WORKERS: '3',
  });
  closing.defer(() => server.stop());
  await answers(url);
  return new Mail(url, folder, deliver, dovecot);
}

/** Whether a server says something at a port. */
const greets = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (greeted: boolean) => {
      socket.destroy();
      resolve(greeted);
    };
    socket.once('data', () => end(true)).once('error', () => end(false));
  });

/** Dovecot refuses mail of root: then everybody's belongs to nobody. Else it runs as whoever runs the test. */
async function writeDovecot(folder: string, port: number): Promise<string> {
  const asRoot = process.getuid?.() === 0;
  const user = (await run('id', asRoot ? ['-un', 'nobody'] : ['-un'])).trim();
  const group = (await run('id', asRoot ? ['-gn', 'nobody'] : ['-gn'])).trim();
  const text = await readFile(path.join(php, 'dovecot.conf'), 'utf8');
  const values = { folder, user, group, port: String(port), password: mailPassword };
  const filled = Object.entries(values).reduce(
    (done, [name, value]) => done.replaceAll(`@${name}@`, value),
    text,
  );
  const mails = path.join(folder, 'mail');
  await mkdir(mails);
  if (asRoot) {
    await chmod(folder, 0o755);
    const id = async (flag: string) => Number(await run('id', [flag, user]));
    await chown(mails, await id('-u'), await id('-g'));
  }
  const file = path.join(folder, 'dovecot.conf');
  await writeFile(file, filled);
  return file;
}

async function layOut(folder: string): Promise<void> {
  for (const name of ['config', 'logs', 'temp']) await mkdir(path.join(folder, name));
  await symlink(path.join(php, 'config.inc.php'), path.join(folder, 'config/config.inc.php'));
  for (const name of ['defaults.inc.php', 'mimetypes.php']) {
    await symlink(path.join(defaults, name), path.join(folder, 'config', name));
  }
}
