import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { Pairing } from '../src/worker/link/handshake.ts';
import { prove } from '../src/worker/link/handshake.ts';
import {
  Link,
  type LinkListener,
  type LinkSource,
  type Socket,
  type SocketListener,
} from '../src/worker/link/link.ts';

const secret = 'ab'.repeat(32);
const identity = {
  extension: '0.1.0',
  extensionId: 'a'.repeat(32),
  bundle: 'b'.repeat(64),
  epoch: 'e'.repeat(32),
  profile: { id: 'd'.repeat(32), label: 'Chrome 1' },
  chrome: '156.0.0.0',
};

class FakeSocket implements Socket {
  sent: string[] = [];
  closedWith: number | undefined;
  readonly url: string;
  readonly listener: SocketListener;

  constructor(url: string, listener: SocketListener) {
    this.url = url;
    this.listener = listener;
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(code: number): void {
    this.closedWith = code;
  }
}

let sockets: FakeSocket[] = [];
let pairing: Pairing | undefined;
let events: string[] = [];
let reads = 0; // of the pairing

const source: LinkSource = {
  identity: async () => identity,
  async pairing() {
    reads++;
    return pairing;
  },
  freshProfile: async () => void events.push('fresh profile'),
};

const listener: LinkListener = {
  opened: () => events.push('opened'),
  frame: (frame, payload) => events.push(`${frame.type} ${payload}`),
  changed: ({ phase }) => events.push(phase),
};

const turn = async () => {
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

// WebCrypto answers from a thread of its own.
async function until(done: () => boolean): Promise<void> {
  const limit = process.hrtime.bigint() + 10_000_000_000n; // the only clock here that is not mocked
  while (!done() && process.hrtime.bigint() < limit)
    await new Promise<void>((resolve) => setImmediate(resolve));
  assert.ok(done());
}

function last(): FakeSocket {
  const socket = sockets.at(-1);
  assert.ok(socket !== undefined);
  return socket;
}

async function dialled(): Promise<Link> {
  const link = new Link(source, (url, of) => {
    const socket = new FakeSocket(url, of);
    sockets.push(socket);
    return socket;
  });
  link.listen(listener);
  link.dial();
  await turn();
  return link;
}

// What a relay with this secret answers to the hello.
async function answer(socket: FakeSocket, relaySecret = secret): Promise<void> {
  socket.listener.opened();
  const hello = socket.sent[0] ?? '';
  const relay = JSON.stringify({ type: 'relay', protocol: 1, relay: '0.1.0', nonce: '2'.repeat(64) });
  socket.listener.message(relay);
  // The relay's proof is the extension's with the other role; made here from the same parts through the product's
  // own function, which the protocol's golden proofs check.
  const proof = await relayProof(relaySecret, hello, relay);
  socket.listener.message(JSON.stringify({ type: 'proof', proof }));
  await until(() => socket.sent.length > 1 || socket.closedWith !== undefined);
}

async function relayProof(relaySecret: string, hello: string, relay: string): Promise<string> {
  const { createHash, createHmac } = await import('node:crypto');
  const nonce = /"nonce":"([0-9a-f]{64})"/.exec(hello)?.[1] ?? '';
  const hellos = createHash('sha256').update(`${hello}\n${relay}`).digest('hex');
  const lines = [
    'tabrelay.v1',
    'relay',
    '1',
    '127.0.0.1:7',
    identity.extensionId,
    identity.profile.id,
    nonce,
  ];
  const text = [...lines, '2'.repeat(64), hellos].join('\n');
  return createHmac('sha256', Buffer.from(relaySecret, 'hex')).update(text).digest('hex');
}

const limits = { frameBytes: 1, resultBytes: 1, storedOutcomeBytes: 1 };
const welcome = JSON.stringify({ type: 'welcome', bundle: 'b', pingMs: 20_000, limits, gapMs: 5000 });

async function connected(): Promise<Link> {
  const link = await dialled();
  await answer(last());
  last().listener.message(welcome);
  await until(() => link.connected);
  events = [];
  return link;
}

let setMs: number; // by how much the system's clock was set

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  const ticked = Date.now;
  setMs = 0;
  mock.method(performance, 'now', () => ticked());
  mock.method(Date, 'now', () => ticked() + setMs);
  sockets = [];
  events = [];
  pairing = { address: '127.0.0.1:7', secret };
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

test('greets, verifies, proves, and reads frames in order', async () => {
  const link = await dialled();
  assert.equal(last().url, 'ws://127.0.0.1:7/extension');
  assert.equal(link.send({ type: 'ping' }), false);
  await answer(last());
  assert.match(last().sent[1] ?? '', /^\{"type":"proof","proof":"[0-9a-f]{64}"\}$/);
  last().listener.message(welcome);
  last().listener.message('{"type":"plugins","plugins":[]}');
  last().listener.message('{"type":"command","id":"00000000000000000000000000000000","name":"reload"}\n1');
  last().listener.message('{"type":"unheard of"}');
  last().listener.message('not json');
  await until(() => events.length >= 5);
  assert.deepEqual(events, ['connecting', 'connected', 'opened', 'plugins ', 'command 1']);
  assert.equal(link.send({ type: 'ping' }), true);
});

test('stops at a relay that cannot prove the secret, and looks for another pairing every minute', async () => {
  const link = await dialled();
  await answer(last(), '00'.repeat(32));
  assert.equal(last().closedWith, 4000);
  assert.equal(last().sent.length, 1);
  assert.equal(link.state.phase, 'stopped');
  mock.timers.tick(60_000);
  await turn();
  assert.equal(sockets.length, 1);
  pairing = { address: '127.0.0.1:7', secret: 'cd'.repeat(32) };
  mock.timers.tick(60_000);
  await turn();
  assert.equal(sockets.length, 2);
});

test('dials again at once, then slower and slower, for ever', async () => {
  await connected();
  last().listener.closed(1006, '');
  mock.timers.tick(0);
  await turn();
  assert.equal(sockets.length, 2);
  const waits: number[] = [];
  for (let i = 0; i < 36; i++) {
    const before: number = sockets.length;
    last().listener.closed(1006, '');
    let waited = 0;
    while (sockets.length === before && waited < 40_000) {
      mock.timers.tick(50);
      waited += 50;
      await turn();
    }
    waits.push(waited);
  }
  waits.forEach((wait, i) => {
    const full = i < 30 ? Math.min(1000, 500 * 2 ** i) : Math.min(30_000, 1000 * 2 ** (i - 29));
    assert.ok(wait >= full / 2 - 50 && wait <= full + 50, `attempt ${i}: ${wait} of ${full}`);
  });
});

for (const code of [4401, 4406]) {
  test(`close code ${code} stops dialling until something changes`, async () => {
    const link = await dialled();
    last().listener.message(
      JSON.stringify({ type: 'refuse', code: 'VERSION_MISMATCH', message: 'update it' }),
    );
    await turn();
    last().listener.closed(code, '');
    assert.deepEqual([link.state.phase, link.state.message], ['stopped', 'update it']);
    mock.timers.tick(120_000);
    await turn();
    assert.equal(sockets.length, 1);
    link.dial(true);
    await turn();
    assert.equal(sockets.length, 2);
  });
}

test('a pasted pairing that a relay does not know any more can be pasted anew', async () => {
  for (const [code, phase] of [
    [4401, 'unpaired'],
    [4406, 'stopped'],
  ] as const) {
    pairing = { address: '127.0.0.1:7', secret, pasted: true };
    const link = await dialled();
    last().listener.closed(code, 'no');
    assert.equal(link.state.phase, phase);
    const dialledSoFar = sockets.length;
    mock.timers.tick(59_000);
    await turn();
    assert.equal(sockets.length, dialledSoFar, 'it is not tried again by itself');
  }
});

test('close code 4409 is not answered, 4410 takes a fresh profile', async () => {
  await connected();
  last().listener.closed(4409, '');
  mock.timers.tick(600_000);
  await turn();
  assert.equal(sockets.length, 1);

  const other = await connected();
  last().listener.closed(4410, '');
  await turn();
  mock.timers.tick(0);
  await turn();
  assert.ok(events.includes('fresh profile'));
  assert.equal(sockets.length, 3);
  assert.equal(other.state.phase, 'connecting');
});

test('pings, and gives a silent relay up', async () => {
  const link = await connected();
  mock.timers.tick(20_000);
  assert.equal(last().sent.at(-1), '{"type":"ping"}');
  last().listener.message('{"type":"pong"}');
  mock.timers.tick(10_000);
  assert.equal(link.connected, true);
  mock.timers.tick(10_000);
  mock.timers.tick(10_000);
  assert.equal(link.connected, false);
  assert.equal(last().closedWith, 4000);
  last().listener.closed(1006, 'too late to matter');
  assert.equal(events.filter((event) => event === 'waiting').length, 1);
});

test('a relay that answers is not silent because the clock was set', async () => {
  const link = await connected();
  for (const jump of [3_600_000, -3_600_000]) {
    mock.timers.tick(20_000);
    setMs += jump;
    last().listener.message('{"type":"pong"}');
    mock.timers.tick(10_000);
    assert.equal(link.connected, true);
    mock.timers.tick(10_000);
    last().listener.message('{"type":"pong"}');
  }
});

test('answers a ping of the relay at once', async () => {
  await connected();
  last().listener.message('{"type":"ping"}');
  assert.equal(last().sent.at(-1), '{"type":"pong"}');
});

test('a greeting that does not end is given up', async () => {
  const link = await dialled();
  last().listener.opened();
  mock.timers.tick(5000);
  assert.equal(link.state.phase, 'waiting');
  assert.equal(last().closedWith, 4000);
});

test('without pairing.json it waits for one', async () => {
  pairing = undefined;
  const link = await dialled();
  assert.equal(link.state.phase, 'unpaired');
  const read = reads;
  for (let ms = 0; ms < 100; ms++) {
    mock.timers.tick(1);
    await turn();
  }
  assert.equal(reads, read, 'it is not looked for without a pause');
  pairing = { address: '127.0.0.1:7', secret };
  mock.timers.tick(30_000);
  await turn();
  assert.equal(sockets.length, 1);
});

test('a proof is bound to its role', async () => {
  const parts = {
    protocol: 1,
    address: '127.0.0.1:7',
    extensionId: identity.extensionId,
    profileId: identity.profile.id,
    extensionNonce: '1'.repeat(64),
    relayNonce: '2'.repeat(64),
    hello: 'h',
    relay: 'r',
  };
  const { verify } = await import('../src/worker/link/handshake.ts');
  assert.equal(await verify(secret, parts, await prove(secret, parts)), false);
});
