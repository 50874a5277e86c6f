// Chrome as a person has it: with a window, none of the flags of a test driver, and sites that count how often each of
// their pages was loaded.

import { once } from 'node:events';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { expect } from '@playwright/test';
import type { Closing } from './closing.ts';
import { browser } from './paths.ts';
import { portOf } from './port.ts';
import { type Program, start } from './process.ts';

/** A site with pages that link to each other, and that counts how often they were loaded. */
export async function openCountingSite(closing: Closing, name: string) {
  const loads = new Map<string, number>();
  const server = createServer((request, response) => {
    const page = request.url ?? '';
    if (page.startsWith('/favicon')) return response.writeHead(404).end();
    loads.set(page, (loads.get(page) ?? 0) + 1);
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>${name} ${page}</title>
      <p>This is ${name} ${page}.</p><button onclick="out.value = 'Pressed ' + ++n">Press</button>
      <output id="out"></output><script>let n = 0;</script>`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { name, url: `http://127.0.0.1:${portOf(server.address())}`, loads };
}

/** A screen without a monitor; its name for DISPLAY. */
export async function openScreen(closing: Closing): Promise<string> {
  await access('/usr/bin/Xvfb').catch(() => {
    throw new Error('This test has Chrome open a window: install Xvfb (Debian: xvfb).');
  });
  const screen = start('Xvfb', ['-displayfd', '1', '-screen', '0', '1280x900x24', '-nolisten', 'tcp']);
  closing.defer(() => screen.stop());
  await expect.poll(() => screen.printed().trim()).toMatch(/^\d+$/);
  return `:${screen.printed().trim()}`;
}

/** A profile whose person has developer mode on, and Chrome go on where it was. */
export async function makeProfile(folder: string, name = 'Default'): Promise<void> {
  await mkdir(path.join(folder, name));
  const preferences = { extensions: { ui: { developer_mode: true } }, session: { restore_on_startup: 1 } };
  await writeFile(path.join(folder, name, 'Preferences'), JSON.stringify(preferences));
}

/**
 * Chrome as a person starts it, with these extensions, and the profile of this name. Where it runs already, it opens a
 * window of that profile, and the program that is returned ends at once.
 */
export function openChrome(
  extensions: readonly string[],
  folder: string,
  display: string,
  profile = 'Default',
): Program {
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return start(
    browser,
    [
      `--user-data-dir=${folder}`,
      `--profile-directory=${profile}`,
      `--load-extension=${extensions.join(',')}`,
      '--no-first-run',
      '--password-store=basic',
      ...root,
    ],
    { DISPLAY: display },
  );
}
