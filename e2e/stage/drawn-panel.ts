// The built panel page with a worker made of a script: for drawing states, which a real relay is in for a moment only.
// What the panel does is tested against the real worker and relay (panel-approvals.spec.ts).

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Browser, type Disposable, expect, type Page } from '@playwright/test';
import { Closing } from './closing.ts';
import { repository } from './paths.ts';
import { test } from './test.ts';

/** What the scripted worker says. */
export interface Script {
  /** The state it posts; left out: it never speaks. */
  state?: unknown;
  /** Answers by path below /api/v1/, without the query; a path that is not here is never answered. */
  answers: Record<string, { status?: number; body: unknown }>;
  /** Optional permissions that Chrome has given. */
  given?: readonly string[];
}

export interface Look {
  width: number;
  scheme: 'light' | 'dark';
  forcedColors?: 'active';
}

/** The time of day in every picture. */
const pictureTime = new Date('2026-03-02T10:00:00Z');

const address = 'http://panel.test/';
const kinds: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

/** The policy Chrome has for pages of an extension, and styles from our own file only. */
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'";

/** A page that panels are drawn in, one after the other, each in a document of its own. */
export class Canvas {
  readonly page: Page;
  #playing: Disposable | undefined;

  constructor(page: Page) {
    this.page = page;
  }

  async draw(script: Script, { width, scheme, forcedColors }: Look, hash: string): Promise<void> {
    if (this.#playing !== undefined) await this.#leave();
    await this.page.clock.setFixedTime(pictureTime);
    await this.page.setViewportSize({ width, height: 640 });
    await this.page.emulateMedia({
      colorScheme: scheme,
      forcedColors: forcedColors ?? 'none',
      reducedMotion: 'reduce',
    });
    this.#playing = await this.page.addInitScript(playWorker, script);
    await this.page.goto(`${address}panel.html#${hash}`);
  }

  /** Leaves the panel. Of a document nothing stays but what its origin keeps, and a panel has to keep nothing there. */
  async #leave(): Promise<void> {
    const kept = await this.page.evaluate(async () => [
      ...Object.keys(localStorage),
      ...Object.keys(sessionStorage),
      ...(await indexedDB.databases()).map(({ name }) => name),
    ]);
    const cookies = await this.page.context().cookies();
    expect([...kept, ...cookies], 'the next panel would find what this one kept').toEqual([]);
    await this.#playing?.dispose();
    await this.page.goto('about:blank'); // another hash alone would lead to no new document
  }
}

async function openCanvas(drawer: Browser, closing: Closing): Promise<Canvas> {
  const context = await drawer.newContext({ locale: 'en-GB', timezoneId: 'UTC' });
  closing.defer(() => context.close());
  await context.route(`${address}**`, async (route) => {
    const url = new URL(route.request().url());
    const name = url.pathname.slice(1);
    if (name === '_favicon/') {
      await route.fulfill(iconOf(new URL(url.searchParams.get('pageUrl') ?? address)));
      return;
    }
    const body = await readFile(path.join(repository, 'extension/dist', name));
    const contentType = kinds[path.extname(name).slice(1)] ?? 'application/octet-stream';
    await route.fulfill({ body, contentType, headers: { 'content-security-policy': policy } });
  });
  return new Canvas(await context.newPage());
}

/** A test with one page for all panels of its worker: opening another one costs more than drawing a panel. */
export const drawing = test.extend<object, { canvas: Canvas }>({
  canvas: [
    async ({ browser }, use) => {
      const closing = new Closing();
      await use(await openCanvas(browser, closing));
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

/** What Chrome's database of icons has: nothing of a wiki. */
function iconOf({ hostname }: URL) {
  if (hostname.startsWith('wiki')) return { status: 404 };
  const hue = hostname.startsWith('shop') ? 150 : 20;
  const square = `<rect width="32" height="32" rx="7" fill="hsl(${hue} 60% 42%)"/>`;
  const icon = `${square}<circle cx="16" cy="16" r="7" fill="#fff"/>`;
  const body = `<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32">${icon}</svg>`;
  return { contentType: 'image/svg+xml', body };
}

/** Has the scripted worker answer a path differently from now on, and say that there is news of its topic. */
export async function change(page: Page, topic: string, body: unknown): Promise<void> {
  await page.evaluate(
    ([name, value]) => {
      const worker = Reflect.get(globalThis, 'worker');
      worker.answers[name] = { body: value };
      worker.say({ type: 'news', topics: [name], waiting: 0 });
    },
    [topic, body] as const,
  );
}

/** Runs in the page before its script: `chrome`, as far as the panel uses it. */
function playWorker({ state, answers, given }: Script): void {
  type Listener = (message: unknown) => void;
  type Request = { type?: string; id?: string; method?: string; path?: string };
  const connect = () => {
    const listeners: Listener[] = [];
    const say = (message: unknown) => {
      for (const listener of listeners) listener(structuredClone(message));
    };
    if (state !== undefined) setTimeout(() => say(state), 0);
    Object.defineProperty(globalThis, 'worker', { configurable: true, value: { say, answers } });
    return {
      onMessage: { addListener: (listener: Listener) => listeners.push(listener) },
      onDisconnect: { addListener() {} },
      postMessage({ type, id, method, path: asked = '' }: Request) {
        if (type !== 'request') return;
        const name = asked.replace('/api/v1/', '').replace(/\?.*/, '');
        const answer = answers[method === 'GET' ? name : `${method} ${name}`];
        if (answer === undefined) return;
        setTimeout(() => say({ type: 'response', id, status: answer.status ?? 200, body: answer.body }), 0);
      },
    };
  };
  Object.defineProperty(globalThis, 'chrome', {
    value: {
      runtime: { connect, getManifest: () => ({ version: '0.1.0', permissions: ['storage'] }) },
      management: { getSelf: async () => ({ installType: 'normal' }) },
      storage: {
        local: {
          get: async (key: string) => (key === 'profile' ? { profile: { id: 'p1', label: 'Work' } } : {}),
          set: async () => {},
          onChanged: { addListener() {}, removeListener() {} },
        },
      },
      permissions: {
        contains: async ({ permissions = [] }: { permissions?: string[] }) =>
          permissions.every((one) => (given ?? []).includes(one)),
        request: async () => true,
        remove: async () => true,
      },
      commands: {
        getAll: async () => [
          { name: '_execute_action', description: '', shortcut: 'Alt+Shift+O' },
          { name: 'stop-everything', description: 'Stop everything that agents do', shortcut: 'Alt+Shift+S' },
        ],
      },
      tabs: { create: async () => {}, update: async () => ({ windowId: 1 }) },
      windows: { update: async () => {} },
    },
  });
}
