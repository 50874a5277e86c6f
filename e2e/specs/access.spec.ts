// Who may come in: the extension with the pairing secret, and clients with a token. Nobody else, from nowhere.

import { ask } from '../stage/ask.ts';
import { extensionId } from '../stage/browser.ts';
import { type Forger, openForger } from '../stage/forger.ts';
import { openRelay } from '../stage/relay.ts';
import { routes } from '../stage/routes.ts';
import base, { expect } from '../stage/test.ts';

const test = base.extend<{ forger: Forger }>({
  forger: async ({ sharedStage: { relay, browser } }, use) => {
    await use(await openForger(relay, await extensionId(browser)));
  },
});

const protocols = { newer: { min: 99, max: 99 }, older: { min: 0, max: 0 } };

test.describe('/extension', () => {
  test('who says everything right is welcome', async ({ forger }) => {
    const { status, frames } = await forger.dial();
    expect(status).toBe(101);
    expect(frames.slice(0, 3)).toEqual(['relay', 'proof', 'welcome']);
  });

  const upgrades = [
    { what: 'a Host that is not loopback', headers: { host: 'relay.example:7717' } },
    { what: 'a Host that only begins like loopback', headers: { host: '127.0.0.1.example:7717' } },
    { what: 'another port', headers: { host: '127.0.0.1:1' } },
    { what: 'no Origin', headers: { origin: undefined } },
    { what: 'the Origin of a web page', headers: { origin: 'https://example.com' } },
    { what: 'the Origin of a local web page', headers: { origin: 'http://127.0.0.1:7718' } },
    { what: 'the Origin "null"', headers: { origin: 'null' } },
    { what: 'another extension', headers: { origin: 'chrome-extension://abcdefghijklmnopabcdefghijklmnop' } },
  ];
  for (const { what, headers } of upgrades) {
    test(`403 before the upgrade: ${what}`, async ({ forger }) => {
      expect(await forger.dial({ headers })).toMatchObject({ status: 403, frames: [] });
    });
  }

  test('403 before the upgrade: an Origin in other letters, or with an end of its own', async ({
    forger,
  }) => {
    const { status } = await forger.dial();
    expect(status).toBe(101);
    for (const change of [
      (o: string) => o.toUpperCase(),
      (o: string) => `${o}/`,
      (o: string) => `${o}.example`,
    ]) {
      expect((await forger.dial({ headers: { origin: change(forger.origin) } })).status).toBe(403);
    }
  });

  for (const subprotocols of [[], ['tabrelay.v0']]) {
    test(`403 before the upgrade: the subprotocols [${subprotocols}]`, async ({ forger }) => {
      expect(await forger.dial({ subprotocols })).toMatchObject({ status: 403, frames: [] });
    });
  }

  test('a wrong proof: 4401, and nothing was told', async ({ forger }) => {
    for (const proof of [() => '0'.repeat(64), () => '', (right: string) => right.toUpperCase()]) {
      const reception = await forger.dial({ proof });
      expect(reception.closed).toBe(4401);
      expect(reception.refusal?.code).toBe('PAIRING_FAILED');
      expect(reception.frames).not.toContain('welcome');
    }
  });

  test('a replayed proof: 4401', async ({ forger }) => {
    const { proof: old } = await forger.dial();
    expect((await forger.dial({ proof: () => old })).closed).toBe(4401);
  });

  for (const [what, protocol] of Object.entries(protocols)) {
    test(`a ${what} protocol: 4406 and a sentence that says what to update`, async ({ forger }) => {
      const { closed, refusal } = await forger.dial({ protocol });
      expect(closed).toBe(4406);
      expect(refusal?.code).toBe('VERSION_MISMATCH');
      expect(refusal?.message).toMatch(/update|reinstall/);
    });
  }

  test('the browser that belongs here stayed connected through all of it', async ({
    sharedStage: { agent },
  }) => {
    expect((await agent.call('demo__hello')).failed).toBe(false);
  });
});

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

// relay/matrix_test.go has all combinations; this is what the built binary says over a connection.
const elsewhere: Record<string, string>[] = [
  { host: 'relay.example' },
  { host: '127.0.0.1.relay.example' },
  { origin: 'https://example.com' },
  { origin: 'null' },
  { origin: 'chrome-extension://abcdefghijklmnopabcdefghijklmnop' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
];

test.describe('every route', () => {
  test('refuses what comes from elsewhere, in the same words whatever it asks for', async ({
    sharedStage: { relay },
  }) => {
    const known = { ...json, authorization: `Bearer ${await relay.token()}` };
    for (const headers of elsewhere) {
      const said = new Set<string>();
      for (const { keeper, method, path } of routes) {
        if (keeper === 'extension') continue;
        for (const way of [known, json]) {
          const refused = await ask(await relay.url(path), method, { ...way, ...headers }, '{}');
          expect(refused.status, `${method} ${path} with ${JSON.stringify(headers)}`).toBe(403);
          said.add(refused.text);
        }
      }
      expect([...said]).toHaveLength(1);
    }
  });

  test('wants a token that is known', async ({ sharedStage: { relay } }) => {
    const kept = routes.filter(({ keeper }) => ['client', 'person', 'panel', 'remote'].includes(keeper));
    const refusals = kept.map(async ({ method, path }) => ({
      route: `${method} ${path}`,
      reply: await ask(await relay.url(path), method, { ...json, authorization: 'Bearer wrong' }, '{}'),
    }));
    const said = new Set<string>();
    for (const { route, reply } of await Promise.all(refusals)) {
      expect(reply.status, route).toBe(401);
      expect(reply.headers['www-authenticate']).toMatch(/^Bearer/);
      said.add(reply.text);
    }
    expect([...said]).toHaveLength(1);
  });

  test('lets an agent do what is for agents, and nothing that is for the person or another machine', async ({
    sharedStage: { relay, agent, demo },
  }) => {
    const authorization = `Bearer ${await relay.token()}`;
    for (const { keeper, method, path } of routes) {
      if (keeper === 'extension') continue;
      const { status, text } = await ask(await relay.url(path), method, { ...json, authorization }, '{}');
      const about = `${method} ${path}: ${status} ${text}`;
      if (['person', 'panel', 'remote'].includes(keeper)) expect(status, about).toBe(403);
      else expect([401, 403], about).not.toContain(status);
    }
    expect((await agent.call('demo__counter_increment', { name: 'door' })).failed).toBe(false);
    expect((await demo.counter('door')).asked).toBe(1);
  });
});

test('who guesses tokens is slowed down, and who has one is not', async ({ closing }) => {
  const relay = await openRelay(closing);
  const authorization = `Bearer ${await relay.token()}`;
  const url = await relay.url('/api/v1/status');
  const guesses = Array.from({ length: 120 }, (_, guess) =>
    ask(url, 'GET', { authorization: `Bearer tabrelay_${guess}` }),
  );
  expect((await ask(url, 'GET', { authorization })).status).toBe(200);
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([401]));
  await expect.poll(() => relay.log().match(/without a token that is known/g)?.length).toBe(1);
  expect(relay.log()).not.toMatch(/tabrelay_\d/);
});

test('/healthz says little, /metrics wants a token, and probing for OAuth fails cleanly', async ({
  sharedStage: { relay },
}) => {
  const health = await ask(await relay.url('/healthz'), 'GET', {});
  expect(JSON.parse(health.text)).toEqual({ name: 'tabrelay', status: 'ok' });
  expect((await ask(await relay.url('/healthz'), 'GET', { host: 'relay.example' })).status).toBe(403);
  expect((await ask(await relay.url('/metrics'), 'GET', {})).status).toBe(401);
  const probe = await ask(await relay.url('/.well-known/oauth-protected-resource'), 'GET', {});
  expect(probe.status).toBe(404);
  expect(probe.headers['content-type']).toMatch(/json/);
  JSON.parse(probe.text);
});
