// The built panel page with a worker made of a script: for drawing states, which a real relay is in for a moment only.
// What the panel does is tested against the real worker and relay (panel-approvals.spec.ts).

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from '@playwright/test';
import type { Closing } from './closing.ts';
import { repository } from './paths.ts';

/** What the scripted worker says. */
export interface Script {
  /** The state it posts; left out: it never speaks. */
  state?: unknown;
  /** Answers by path below /api/v1/, without the query; a path that is not here is never answered. */
  answers: Record<string, { status?: number; body: unknown }>;
  /** `optional_permissions` of the manifest. */
  optional?: readonly string[];
}

export interface Look {
  width: number;
  scheme: 'light' | 'dark';
  forcedColors?: 'active';
}

/** The time of day in every picture. */
export const pictureTime = new Date('2026-03-02T10:00:00Z');

const address = 'http://panel.test/';
const kinds: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

/** The policy Chrome has for pages of an extension, and styles from our own file only. */
const policy = "default-src 'none'; script-src 'self'; style-src 'self'";

export async function drawPanel(
  browser: Browser,
  script: Script,
  look: Look,
  hash: string,
  closing: Closing,
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: look.width, height: 640 },
    colorScheme: look.scheme,
    forcedColors: look.forcedColors ?? 'none',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
  });
  closing.defer(() => context.close());
  await context.route(`${address}**`, async (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    const body = await readFile(path.join(repository, 'extension/dist', name));
    const contentType = kinds[path.extname(name).slice(1)] ?? 'application/octet-stream';
    await route.fulfill({ body, contentType, headers: { 'content-security-policy': policy } });
  });
  const page = await context.newPage();
  await page.clock.setFixedTime(pictureTime);
  await page.addInitScript(playWorker, script);
  await page.goto(`${address}panel.html#${hash}`);
  return page;
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
function playWorker({ state, answers, optional }: Script): void {
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
      runtime: { connect, getManifest: () => ({ optional_permissions: optional ?? [] }) },
      storage: {
        local: {
          get: async (key: string) => (key === 'profile' ? { profile: { id: 'p1', label: 'Work' } } : {}),
          set: async () => {},
          onChanged: { addListener() {}, removeListener() {} },
        },
      },
      permissions: { contains: async () => false, request: async () => true },
      tabs: { create: async () => {} },
    },
  });
}
