// A program of this machine that cannot open the person's files: another user's, or one in a box with a network. It
// takes the port while no relay runs, floods it while one does, and sends what is too large. relay/program/httpapi and
// relay/closed_test.go have the rest.

import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import WebSocket, { WebSocketServer } from 'ws';
import { z } from 'zod';
import { extensionId } from '../stage/browser.ts';
import { freePort } from '../stage/port.ts';
import test, { expect, openStage } from '../stage/test.ts';

const Secrets = z.object({ pairing: z.string(), local: z.string() });

test('who takes the port hears a greeting and nothing else: no secret, no tab, and no call gets there', async ({
  closing,
}) => {
  const port = await freePort();
  const { relay, agent, demo } = await openStage(closing, { config: { listen: `127.0.0.1:${port}` } });
  const { pairing, local } = Secrets.parse(
    JSON.parse(await readFile(path.join(relay.home, 'secrets.json'), 'utf8')),
  );
  expect((await agent.call('demo__hello')).failed).toBe(false);
  await agent.client.close(); // it would start the next relay, which could have the port first
  await relay.stop('SIGKILL');

  const heard: string[] = [];
  const closed: number[] = [];
  const squatter = new WebSocketServer({ host: '127.0.0.1', port, handleProtocols: () => 'tabrelay.v1' });
  squatter.on('connection', (socket, request) => {
    heard.push(JSON.stringify(request.headers));
    socket.on('close', (code) => closed.push(code));
    socket.on('message', (data) => {
      heard.push(String(data));
      socket.send(JSON.stringify({ type: 'relay', protocol: 1, relay: '9.9.9', nonce: 'a'.repeat(64) }));
      socket.send(JSON.stringify({ type: 'proof', proof: 'b'.repeat(64) }));
      socket.send(
        JSON.stringify({ type: 'call', id: 'c'.repeat(32), plugin: 'demo', tool: 'hello', tabId: 1 }),
      );
    });
  });
  await expect.poll(() => closed.length).toBeGreaterThan(0);
  // What a person types meanwhile goes to the socket in their folder, never to the port.
  await relay.tabrelay('status').catch(() => 'nobody is there');
  squatter.close();
  for (const client of squatter.clients) client.terminate();
  const all = heard.join('\n');
  expect(all).toContain('"hello"');
  for (const secret of [pairing, local, demo.url, 'tabrelay demo', '"tabs"', '"outcome"', 'authorization'])
    expect(all).not.toContain(secret);
});

test('connections that say nothing, and handshakes that are not finished, keep nobody out', async ({
  sharedStage: { relay, agent, browser },
}) => {
  const address = new URL(await relay.url(''));
  const open: Socket[] = [];
  const handshakes: WebSocket[] = [];
  const origin = `chrome-extension://${await extensionId(browser)}`;
  try {
    for (let n = 0; n < 400; n++) {
      const socket = connect(Number(address.port), address.hostname).on('error', () => {});
      if (n % 2 === 0) socket.write('GET /api/v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
      open.push(socket);
      handshakes.push(
        new WebSocket(`ws://${address.host}/extension`, 'tabrelay.v1', { headers: { origin } }).on(
          'error',
          () => {},
        ),
      );
    }
    const token = await relay.token();
    const answer = await fetch(await relay.url('/api/v1/tools'), {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    expect((await agent.call('demo__hello')).failed).toBe(false);
  } finally {
    for (const socket of open) socket.destroy();
    for (const socket of handshakes) socket.terminate();
  }
  expect((await agent.call('demo__hello')).failed).toBe(false);
});

test('a first message of sixteen megabytes ends its connection, and nothing else', async ({
  sharedStage: { relay, agent, browser },
}) => {
  const { host } = new URL(await relay.url(''));
  const origin = `chrome-extension://${await extensionId(browser)}`;
  for (const message of [
    'x'.repeat(16 << 20),
    `{"type":"hello","nonce":"${'a'.repeat(1 << 20)}"}`,
    '{',
    '[]',
    '\u0000',
  ]) {
    const socket = new WebSocket(`ws://${host}/extension`, 'tabrelay.v1', { headers: { origin } });
    const ended = new Promise((resolve) => socket.on('close', resolve).on('error', resolve));
    socket.on('open', () => socket.send(message));
    socket.on('message', (data) => expect(String(data)).not.toMatch(/welcome|tabs/));
    await ended;
  }
  expect((await agent.call('demo__hello')).failed).toBe(false);
});
