// A home folder for tests of `tabrelay up`.

import type { Closing } from './closing.ts';
import { browser, requireBinary, temporaryFolder } from './paths.ts';
import { Relay } from './relay.ts';

/** A home folder, in which `up` has not run yet. The caller ends what it starts there. */
export async function newHome(closing: Closing): Promise<Relay> {
  requireBinary();
  const relay = new Relay(await temporaryFolder('home', closing));
  await relay.configure({
    listen: '127.0.0.1:0',
    demo: { listen: '127.0.0.1:0' },
    permissions: { default: 'auto' },
    browser: { path: browser, args: ['--no-sandbox', '--disable-gpu'] },
  });
  return relay;
}
