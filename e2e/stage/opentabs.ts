// What the tests of plugins that were written for the OpenTabs SDK have in common.

import { readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Closing } from './closing.ts';
import { repository } from './paths.ts';
import { testPlugin } from './plugin.ts';
import { expect, type Stage, visit } from './test.ts';

/** Opens the page until its tools run: the browser learns of a new plugin a moment after the relay. */
export async function visitWithPlugin(
  stage: Stage,
  url: string,
  tool: string,
  args: Record<string, unknown> = { instance: 'north' },
): Promise<void> {
  await expect(async () => {
    await visit(stage, url);
    const { failed, meta, text } = await stage.agent.call(tool, args);
    expect(failed, text).toBe(false);
    expect(JSON.stringify(meta)).not.toContain('"trust"');
  }).toPass();
}

export async function addNotes(stage: Stage, origin: string, closing: Closing, name: string): Promise<void> {
  const folder = await testPlugin('opentabs-notes', origin, closing);
  await symlink(path.join(repository, 'node_modules'), path.join(folder, 'node_modules'));
  const file = path.join(folder, 'package.json');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('opentabs-plugin-opentabs-notes', `opentabs-plugin-${name}`));
  await stage.relay.tabrelay('plugin', 'add', folder);
}

/** Removes a plugin, which hears of it in the open tab. */
export async function leaves({ page, relay }: Stage, name: string): Promise<void> {
  const left = () => page.evaluate(() => document.documentElement.dataset.left);
  expect(await left()).toBeUndefined();
  await relay.tabrelay('plugin', 'remove', name);
  await expect.poll(left).toBe('deactivated, torn down');
}

export const settings = (north: string, south: string, greeting: string) => [
  `address={"north":"${north}/","south":"${south}/"}`,
  `greeting=${greeting}`,
  'limit=7',
  'loud=true',
  'colour=green',
];
