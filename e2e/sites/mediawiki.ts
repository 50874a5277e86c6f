// A real MediaWiki: the one Debian packages, on PHP's own server, with a database of its own.

import { rmSync } from 'node:fs';
import { appendFile, cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { Closing } from '../stage/closing.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { run, start } from '../stage/process.ts';
import { answers } from './answers.ts';

const source = process.env.MEDIAWIKI ?? '/usr/share/mediawiki';

// What the installer does not ask. Jobs are not run on page views, so that a test sees only what it did.
const settings = `
$wgServer = getenv( 'WIKI_SERVER' );
$wgSQLiteDataDir = dirname( getenv( 'MW_CONFIG_FILE' ) );
$wgEnableEmail = false;
$wgJobRunRate = 0;
$wgMainCacheType = CACHE_DB;
$wgGroupPermissions['*']['edit'] = false;
$wgEnableUploads = true;
$wgUploadDirectory = dirname( getenv( 'MW_CONFIG_FILE' ) ) . '/files';
$wgUseInstantCommons = false;
// A file of that name makes the wiki behave so.
$wgReadOnlyFile = dirname( getenv( 'MW_CONFIG_FILE' ) ) . '/read-only';
if ( file_exists( dirname( getenv( 'MW_CONFIG_FILE' ) ) . '/limited' ) ) {
	$wgRateLimits['edit']['user'] = [ 1, 600 ];
	$wgRateLimits['edit']['newbie'] = [ 1, 600 ];
}
if ( file_exists( dirname( getenv( 'MW_CONFIG_FILE' ) ) . '/broken' ) && PHP_SAPI !== 'cli' ) {
	http_response_code( 503 );
	exit( 'Service Unavailable' );
}
`;

const History = z.object({
  query: z.object({
    pages: z.array(
      z.object({
        missing: z.boolean().optional(),
        revisions: z
          .array(z.object({ revid: z.number(), user: z.string(), comment: z.string(), slots: z.unknown() }))
          .optional(),
      }),
    ),
  }),
});

const Slots = z.object({ main: z.object({ content: z.string() }) });

export interface Revision {
  id: number;
  user: string;
  comment: string;
  text: string;
}

export class Wiki {
  readonly url: string;
  readonly #env: Record<string, string>;

  constructor(url: string, env: Record<string, string>) {
    this.url = url;
    this.#env = env;
  }

  /** Address of a page as a reader opens it. */
  page(title: string): string {
    return `${this.url}/index.php?title=${encodeURIComponent(title)}`;
  }

  /** Runs one of MediaWiki's maintenance scripts. */
  script(name: string, ...args: string[]): Promise<string> {
    return run('php', [path.join(source, 'maintenance', `${name}.php`), ...args], this.#env);
  }

  addUser(name: string, password: string): Promise<string> {
    return this.script('createAndPromote', name, password);
  }

  /** From now on the wiki accepts no changes, limits edits to one in ten minutes, or answers 503. */
  async become(how: 'read-only' | 'limited' | 'broken'): Promise<void> {
    await writeFile(path.join(path.dirname(this.#env.MW_CONFIG_FILE ?? ''), how), 'The wiki is being moved.');
  }

  /** Saves a page as somebody else does, past the browser. */
  async save(title: string, text: string, user: string): Promise<void> {
    const command = `printf %s "$TEXT" | php "$SCRIPT" --user "$EDITOR" "$TITLE"`;
    const script = path.join(source, 'maintenance/edit.php');
    await run('sh', ['-c', command], {
      ...this.#env,
      TEXT: text,
      SCRIPT: script,
      EDITOR: user,
      TITLE: title,
    });
  }

  /** The revisions of a page, newest first, as the wiki itself tells anybody. */
  async history(title: string): Promise<Revision[]> {
    const query = new URLSearchParams({
      action: 'query',
      prop: 'revisions',
      titles: title,
      rvprop: 'ids|user|comment|content',
      rvslots: 'main',
      rvlimit: '50',
      format: 'json',
      formatversion: '2',
    });
    const answer = History.parse(await (await fetch(`${this.url}/api.php?${query}`)).json());
    return (answer.query.pages[0]?.revisions ?? []).map((one) => ({
      id: one.revid,
      user: one.user,
      comment: one.comment,
      text: Slots.parse(one.slots).main.content,
    }));
  }
}

// Installing takes seconds, so each test gets a copy of one installation; what differs is in its environment.
let installed: Promise<string> | undefined;

async function install(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tabrelay-wiki-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await run(
    'php',
    [
      path.join(source, 'maintenance/install.php'),
      ...['--confpath', folder, '--dbtype', 'sqlite', '--dbpath', folder, '--dbname', 'wiki'],
      ...['--server', 'http://wiki.invalid', '--scriptpath', '', '--lang', 'en', '--skins', 'Vector'],
      ...['--pass', 'an admin nobody uses', 'Test wiki', 'Admin'],
    ],
    { MW_CONFIG_FILE: path.join(folder, 'LocalSettings.php') },
  );
  await mkdir(path.join(folder, 'files'));
  await appendFile(path.join(folder, 'LocalSettings.php'), settings);
  return folder;
}

export async function openWiki(closing: Closing): Promise<Wiki> {
  const folder = await temporaryFolder('wiki', closing);
  const url = `http://127.0.0.1:${await freePort()}`;
  const env = { MW_CONFIG_FILE: path.join(folder, 'LocalSettings.php'), WIKI_SERVER: url };
  installed ??= install();
  await cp(await installed, folder, { recursive: true });
  // One worker: what a request leaves to be done after its answer is done before the next request.
  const server = start('php', ['-S', new URL(url).host, '-t', source], env);
  closing.defer(() => server.stop());
  await answers(`${url}/index.php/Main_Page`);
  return new Wiki(url, env);
}
