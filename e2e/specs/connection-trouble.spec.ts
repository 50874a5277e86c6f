// Why there is no connection decides what a person has to do. Each cause has a code and a next step of its own.

import { createServer } from 'node:net';
import { stdioAgent } from '../stage/agent.ts';
import { extensionId, openBrowser } from '../stage/browser.ts';
import { Closing } from '../stage/closing.ts';
import { openForger } from '../stage/forger.ts';
import { binary, temporaryFolder } from '../stage/paths.ts';
import { portOf } from '../stage/port.ts';
import { start } from '../stage/process.ts';
import { expectReadable } from '../stage/readable.ts';
import { openRelay, Relay } from '../stage/relay.ts';
import { expect, test } from '../stage/test.ts';

test('no browser ever: the extension is not installed, and how to install it', async ({ closing }) => {
  const agent = await stdioAgent(await openRelay(closing), closing);
  const failure = expectReadable(await agent.call('demo__hello'), 'EXTENSION_NOT_INSTALLED');
  expect(failure).toMatchObject({ retryable: true, outcome: 'not_executed' });
  for (const step of ['chrome://extensions', 'Developer mode', 'Load unpacked', '`tabrelay up`'])
    expect(failure.hint).toContain(step);
});

test('the browser has just gone: repeat, or open it; a profile that is not there: which there are', async ({
  closing,
}) => {
  const relay = await openRelay(closing);
  const open = new Closing();
  closing.defer(() => open.close());
  const browser = await openBrowser(relay, open);
  const agent = await stdioAgent(relay, closing);
  await expect.poll(() => relay.browsers()).toBe(1);
  const other = expectReadable(
    await agent.call('demo__hello', { profile: 'nobody' }),
    'PROFILE_NOT_CONNECTED',
  );
  expect(other).toMatchObject({ retryable: true, outcome: 'not_executed' });
  await browser.close();
  await expect.poll(() => relay.browsers()).toBe(0);
  // For a minute it counts as on its way back: an extension that sleeps looks the same from here. The text says both.
  const failure = expectReadable(await agent.call('demo__hello'), 'WORKER_ASLEEP');
  expect(failure).toMatchObject({ retryable: true, outcome: 'not_executed' });
  expect(failure.hint).toContain('browser is open');
});

const lies = [
  {
    what: 'an extension of another protocol version is to be updated',
    lie: { protocol: { min: 99, max: 99 } },
    code: 'VERSION_MISMATCH',
    next: /update/i,
  },
  {
    what: 'an extension with a wrong secret is to be paired again',
    lie: { proof: (right: string) => right.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) },
    code: 'PAIRING_FAILED',
    next: /tabrelay doctor/,
  },
];

for (const { what, lie, code, next } of lies) {
  test(`${what}`, async ({ closing }) => {
    const relay = await openRelay(closing);
    const open = new Closing();
    closing.defer(() => open.close());
    const id = await extensionId(await openBrowser(relay, open));
    await expect.poll(() => relay.browsers()).toBe(1); // a welcome that comes later forgets the refusal
    await open.close(); // from here on, only the forger dials
    await expect.poll(() => relay.browsers()).toBe(0);
    const agent = await stdioAgent(relay, closing);
    const refused = await (await openForger(relay, id)).dial(lie);
    expect(refused.refusal?.code ?? refused.closed).toBeDefined();
    const failure = expectReadable(await agent.call('demo__hello'), code);
    expect(failure).toMatchObject({ retryable: false, outcome: 'not_executed' });
    expect(failure.hint).toMatch(next);
  });
}

test('the port is taken: serve says by what to do, and an agent is told why there are no tools', async ({
  closing,
}) => {
  const squatter = createServer().listen(0, '127.0.0.1');
  closing.defer(async () => squatter.close());
  await expect.poll(() => squatter.listening).toBe(true);
  const relay = new Relay(await temporaryFolder('home', closing));
  await relay.configure({ listen: `127.0.0.1:${portOf(squatter.address())}`, demo: { listen: '' } });
  const serve = start(binary, ['serve'], relay.env);
  closing.defer(() => serve.stop());
  expect(await serve.ended).toBeGreaterThan(0);
  expect(serve.output()).toMatch(/^error: .*\bport\b|^error: .*127\.0\.0\.1:\d+/m);
  expect(serve.output()).toMatch(/^hint: .*listen/m);
  const agent = await stdioAgent(relay, closing);
  expect(agent.client.getInstructions()).toMatch(/127\.0\.0\.1:\d+/);
  expect(agent.client.getInstructions()).not.toContain(relay.home);
});
