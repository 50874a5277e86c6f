// What a person types first.

import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { stdioAgent } from '../stage/agent.ts';
import { Closing } from '../stage/closing.ts';
import { newHome } from '../stage/new-home.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { expectReadable } from '../stage/readable.ts';
import type { Relay } from '../stage/relay.ts';
import { expect, test } from '../stage/test.ts';

const up = (relay: Relay) => relay.tabrelay('up', '--browser', 'managed');

test('"tabrelay up" ends with a connected browser and the result of a first call; "down" ends it', async ({
  closing,
}) => {
  const relay = await newHome(closing);
  const down = new Closing();
  closing.defer(() => down.close());
  down.defer(() => relay.tabrelay('down'));
  expect(await up(relay)).toContain('Hello');
  expect(await relay.browsers()).toBe(1);
  expect(await up(relay)).toContain('Hello');
  const inFront = await relay.tabrelay('call', 'browser__snapshot');
  expect(inFront).toMatch(/^page "tabrelay demo" .+\nbanner/);
  await down.close();
  expect(await relay.announced()).toBeUndefined();
});

test('a browser that "up" started and that is killed: each call says so at once, until "up" starts it again', async ({
  closing,
}) => {
  const relay = await newHome(closing);
  closing.defer(() => relay.tabrelay('down'));
  await up(relay);
  const agent = await stdioAgent(relay, closing);
  expect((await agent.call('demo__hello')).failed).toBe(false);

  const record = await readFile(path.join(relay.home, 'browser/browser.json'), 'utf8');
  const { pid } = z.object({ pid: z.number() }).parse(JSON.parse(record));
  process.kill(-pid, 'SIGKILL'); // with the programs it started
  // The relay may have sent the call before it sees that the link is gone.
  const first = await agent.call('demo__hello');
  const lost = first.code === 'EXTENSION_LOST';
  const second = await agent.call('demo__hello');
  for (const failure of [
    expectReadable(first, lost ? 'EXTENSION_LOST' : 'BROWSER_NOT_RUNNING'),
    expectReadable(second, 'BROWSER_NOT_RUNNING'),
  ]) {
    expect(failure.message).toContain('ended');
    expect(failure.hint).toContain('tabrelay up');
    expect(failure.retryable).toBe(true);
  }

  await up(relay);
  expect((await agent.call('demo__hello')).failed).toBe(false);
});

test('"uninstall" while its browser runs leaves nothing, each time', async ({ closing }) => {
  for (let round = 0; round < 3; round++) {
    const relay = await newHome(closing);
    relay.env.HOME = await temporaryFolder('person', closing); // whose clients are none of ours
    closing.defer(() => relay.tabrelay('down'));
    await up(relay);
    expect(await relay.tabrelay('uninstall', '--yes')).not.toContain('stays');
    await expect(access(relay.home)).rejects.toThrow('ENOENT');
  }
});
