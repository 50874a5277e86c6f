// A Debian of its own, with a person who has nothing of tabrelay: no Go, no Node except where a test wants it, no
// network beyond this machine's loopback, Chromium as Debian has it with a profile that is new, a screen, and a
// terminal. What the person does with the mouse is done on the screen, and counted.

import { copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Browser, type BrowserContext, chromium, expect, type Locator, test } from '@playwright/test';
import type { Closing } from '../stage/closing.ts';
import { repository, temporaryFolder } from '../stage/paths.ts';
import { type Program, run, start } from '../stage/process.ts';

/** What debian.sh has made. */
const made = path.join(repository, 'e2e/.cache/homes');
/** The files of a release, which the person has downloaded. */
export const released = path.join(repository, 'packaging/dist');

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

export interface Furniture {
  /** What this Debian has besides: Node, or what a build needs. */
  with?: 'node' | 'build';
  /** Folders of this machine that can be read in it, and where. */
  folders?: Record<string, string>;
}

export class Home {
  readonly #pid: string;
  readonly #display: string;
  readonly #closing: Closing;
  #pictures = 0;
  /** Of the mouse. */
  clicks = 0;
  /** Of the keyboard: Enter, at the terminal and in the browser. */
  enters = 0;

  private constructor(pid: string, display: string, closing: Closing) {
    this.#pid = pid;
    this.#display = display;
    this.#closing = closing;
  }

  static async open(closing: Closing, furniture: Furniture = {}): Promise<Home> {
    const layers = [...(furniture.with ? [path.join(made, furniture.with)] : []), path.join(made, 'root')];
    const holder = start('unshare', [
      ...['--mount', '--pid', '--ipc', '--fork', '--kill-child'],
      ...['sh', path.join(import.meta.dirname, 'enter.sh')],
      ...[await temporaryFolder('own', closing), layers.join(':')],
      ...Object.entries({ [released]: 'released', ...furniture.folders }).flat(),
    ]);
    closing.defer(() => holder.stop('SIGKILL')); // and with it everything that runs in there
    await expect.poll(() => holder.output()).toContain('ready');
    const children = await readFile(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8');
    const within = new Home(children.trim(), '', closing);
    const screen = within.#start([
      'Xvfb',
      '-displayfd',
      '1',
      '-screen',
      '0',
      '1280x900x24',
      '-nolisten',
      'tcp',
    ]);
    await expect.poll(() => screen.printed().trim()).toMatch(/^\d+$/);
    return new Home(children.trim(), `:${screen.printed().trim()}`, closing);
  }

  #inside(command: readonly string[]): string[] {
    return ['nsenter', '--target', this.#pid, '--mount', '--pid', '--ipc', '--', ...command];
  }

  #start([command = '', ...args]: readonly string[]): Program {
    return start('nsenter', this.#inside([command, ...args]).slice(1), { DISPLAY: this.#display });
  }

  /** How a program of this home is started from outside, as the person and with what a login gives them. */
  asPerson(command: string): string[] {
    return this.#inside(['su', '--login', '--whitelist-environment=DISPLAY', 'ada', '--command', command]);
  }

  /** Runs a command of this home as the person, and returns what it printed. */
  async ran(command: string): Promise<string> {
    const [program = '', ...args] = this.asPerson(command);
    return run(program, args, { DISPLAY: this.#display });
  }

  /** A file of this home, as this machine names it. */
  file(name: string): string {
    return path.join('/proc', this.#pid, 'root', name);
  }

  /** A terminal with the person's shell. */
  terminal(): Terminal {
    const command = this.#inside(['su', '--login', '--whitelist-environment=DISPLAY', 'ada']);
    const shell = command.map(quoted).join(' ');
    const program = start('script', ['-qefc', shell, '/dev/null'], { DISPLAY: this.#display }, '');
    return new Terminal(program, this);
  }

  /** Chromium as the person starts it, but that the test sees its pages. */
  async browser(...flags: string[]): Promise<BrowserContext> {
    const [program = '', ...args] = this.asPerson(
      ['exec chromium --remote-debugging-port=9222', ...flags].join(' '),
    );
    const running = start(program, args, { DISPLAY: this.#display });
    await expect.poll(() => running.output()).toContain('DevTools listening');
    // A new profile whose first tab is still to come leaves whoever connects without an answer.
    let connected: Browser | undefined;
    const connect = async () => {
      connected = await chromium.connectOverCDP('http://127.0.0.1:9222', { timeout: 5000 });
    };
    await expect(connect).toPass({ timeout: 30_000 });
    if (connected === undefined) throw new Error('the browser is not connected');
    const browser: Browser = connected;
    this.#closing.defer(() => browser.close());
    const [context] = browser.contexts();
    if (context === undefined) throw new Error('the browser has no profile');
    await expect.poll(() => context.pages().length).toBeGreaterThan(0);
    return context;
  }

  #hand(...orders: string[]): Promise<string> {
    return run('nsenter', this.#inside(['xdotool', ...orders]).slice(1), { DISPLAY: this.#display });
  }

  /** Presses something of a page with the mouse. */
  async press(thing: Locator): Promise<void> {
    await expect(thing).toBeEnabled();
    const box = await thing.boundingBox();
    if (box === null) throw new Error(`${thing} is not shown`);
    // Where the page begins on the screen: the bars of the window are above it.
    const corner = await thing.page().evaluate(() => ({
      x: window.screenX + (window.outerWidth - window.innerWidth) / 2,
      y: window.screenY + window.outerHeight - window.innerHeight,
    }));
    const at = [corner.x + box.x + box.width / 2, corner.y + box.y + box.height / 2];
    await this.#hand('mousemove', ...at.map((n) => String(Math.round(n))), 'click', '1');
    this.clicks++;
  }

  /** Types, in the window that has the keyboard. */
  async type(text: string): Promise<void> {
    await this.#hand('type', '--delay', '5', text);
  }

  /** Opens a page by the address bar. */
  async open(address: string): Promise<void> {
    await this.window(' - Chromium$');
    await this.key('ctrl+l');
    await this.type(address);
    await this.key('Return');
    this.enters++;
  }

  async key(name: string): Promise<void> {
    await this.#hand('key', '--clearmodifiers', name);
  }

  /** Waits for a window with this name, puts it where it is seen whole, and gives it the keyboard. */
  async window(name: string): Promise<string> {
    const id = (await this.#hand('search', '--sync', '--onlyvisible', '--name', name)).trim();
    await this.#hand('windowmove', '--sync', id, '60', '40');
    await this.#hand('windowfocus', '--sync', id);
    return id;
  }

  /** Presses the button at the bottom right of a window. */
  async pressLast(id: string): Promise<void> {
    const text = await this.#hand('getwindowgeometry', '--shell', id);
    const [, width = '', height = ''] = /WIDTH=(\d+)\nHEIGHT=(\d+)/.exec(text) ?? [];
    await this.#hand(
      'mousemove',
      '--window',
      id,
      `${Number(width) - 50}`,
      `${Number(height) - 24}`,
      'click',
      '1',
    );
    this.clicks++;
  }

  /** Takes a picture of the whole screen. */
  async picture(name: string): Promise<void> {
    await this.ran('scrot --overwrite /tmp/picture.png');
    const number = String(++this.#pictures).padStart(2, '0');
    await copyFile(this.file('tmp/picture.png'), test.info().outputPath(`${number}-${name}.png`));
  }
}

export class Terminal {
  readonly #program: Program;
  readonly #home: Home;

  constructor(program: Program, home: Home) {
    this.#program = program;
    this.#home = home;
  }

  /** What can be read in it. */
  get text(): string {
    return stripVTControlCharacters(this.#program.output()).replaceAll('\r', '');
  }

  enter(line = ''): void {
    this.#program.type(`${line}\n`);
    this.#home.enters++;
  }

  async shows(words: string | RegExp): Promise<void> {
    const found = typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words);
    await expect.poll(() => this.text).toEqual(found);
  }
}
