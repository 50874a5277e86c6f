// Who may come in: the extension with the pairing secret, and clients with a token. Nobody else, from nowhere.

import { request } from 'node:http';
import { extensionId } from '../stage/browser.ts';
import { type Forger, openForger } from '../stage/forger.ts';
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

/** Asks with headers that fetch would not send. */
function ask(url: string, method: string, headers: Record<string, string>, body = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'forger', version: '1' } },
});

const endpoints = [
  { path: '/mcp', method: 'POST', body: initialize },
  { path: '/api/v1/tools', method: 'GET', body: '' },
  { path: '/api/v1/status', method: 'GET', body: '' },
  { path: '/api/v1/tools/demo__hello/call', method: 'POST', body: '{}' },
];

for (const { path, method, body } of endpoints) {
  test(`${path}: a token is needed, and a Host and an Origin that belong here`, async ({
    sharedStage: { relay },
  }) => {
    const url = await relay.url(path);
    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const known = { ...json, authorization: `Bearer ${await relay.token()}` };
    expect((await ask(url, method, known, body)).status).toBe(200);

    for (const headers of [
      json,
      { ...json, authorization: 'Bearer wrong' },
      { ...json, authorization: 'Basic eDp5' },
    ]) {
      const refused = await ask(url, method, headers, body);
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toMatch(/^Bearer/);
      expect(refused.text).not.toContain('demo__');
    }
    const elsewhere = [{ host: 'relay.example' }, { origin: 'https://example.com' }, { origin: 'null' }];
    for (const headers of elsewhere) {
      expect((await ask(url, method, { ...known, ...headers }, body)).status).toBe(403);
      expect((await ask(url, method, { ...json, ...headers }, body)).status).toBe(403);
    }
  });
}

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
