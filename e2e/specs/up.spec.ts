// What a person types first.

import { Closing } from '../stage/closing.ts';
import { browser, requireBinary, temporaryFolder } from '../stage/paths.ts';
import { Relay } from '../stage/relay.ts';
import { expect, test } from '../stage/test.ts';

test('"tabrelay up" ends with a connected browser and the result of a first call; "down" ends it', async ({
  closing,
}) => {
  requireBinary();
  const relay = new Relay(await temporaryFolder('home', closing));
  await relay.configure({
    listen: '127.0.0.1:0',
    demo: { listen: '127.0.0.1:0' },
    browser: { path: browser, args: ['--no-sandbox', '--disable-gpu'] },
  });
  const down = new Closing();
  closing.defer(() => down.close());
  down.defer(() => relay.tabrelay('down'));
  const said = await relay.tabrelay('up', '--browser', 'managed');
  expect(said).toContain('Hello');
  expect(await relay.browsers()).toBe(1);
  expect(await relay.tabrelay('up', '--browser', 'managed')).toContain('Hello');
  await down.close();
  expect(await relay.announced()).toBeUndefined();
});
