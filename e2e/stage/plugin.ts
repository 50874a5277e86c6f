// A copy of a test plugin, made for the pages of one test. Building it writes into its folder.

import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Closing } from './closing.ts';
import { repository, temporaryFolder } from './paths.ts';
import type { Relay } from './relay.ts';

/** Copies e2e/plugins/main-world, to work on the pages of one origin, and returns the folder. */
export function mainWorldPlugin(origin: string, closing: Closing): Promise<string> {
  return testPlugin('main-world', origin, closing);
}

/** Copies e2e/plugins/<name>, to work on the pages of one origin, and returns the folder. */
export async function testPlugin(name: string, origin: string, closing: Closing): Promise<string> {
  const folder = path.join(await temporaryFolder('plugin', closing), name);
  await cp(path.join(repository, 'e2e/plugins', name), folder, { recursive: true });
  const file = path.join(folder, 'package.json');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(`http://${name}.invalid/*`, `${origin}/*`));
  return folder;
}

/** Adds the plugin whose calls take long, fail or misbehave, for the demo site at an address. */
export async function addTrouble(relay: Relay, demo: string, closing: Closing, reviewed: boolean) {
  await relay.tabrelay('plugin', 'add', await testPlugin('trouble', demo, closing));
  if (reviewed) await relay.person('plugin', 'review', 'trouble');
}
