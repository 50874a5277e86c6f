import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { mock, test } from 'node:test';
import type { Socket, SocketListener } from '../src/worker/link/link.ts';
import { exchange, Pairer, parsePairingString } from '../src/worker/link/pairing.ts';

const code = '00112233445566778899aabbccddeeff';
const secret = 'ab'.repeat(32);
const address = '127.0.0.1:7717';
const identity = {
  extension: '0.1.0',
  extensionId: 'a'.repeat(32),
  bundle: 'b'.repeat(64),
  epoch: 'e'.repeat(32),
  profile: { id: 'd'.repeat(32), label: 'Chrome 1' },
  chrome: '156.0.0.0',
};

// A relay that has the string `known`, and answers a proof with `then`.
class FakeRelay {
  readonly heard: { type: string; proof?: string; nonce?: string; pair?: boolean }[] = [];
  closedWith: number | undefined;
  #hello = '';
  readonly #known: string;
  readonly #silent: boolean;

  constructor(known: string, silent = false) {
    this.#known = known;
    this.#silent = silent;
  }

  readonly dial = (url: string, listener: SocketListener): Socket => {
    assert.equal(url, `ws://${address}/extension`);
    queueMicrotask(() => listener.opened());
    return {
      send: (text) => {
        this.heard.push(JSON.parse(text));
        if (!this.#silent) this.#answer(text, listener);
      },
      close: (closeCode) => {
        this.closedWith = closeCode;
      },
    };
  };

  #answer(text: string, listener: SocketListener): void {
    const said = this.heard.at(-1);
    const relay = JSON.stringify({ type: 'relay', protocol: 2, relay: '0.1.0', nonce: '2'.repeat(64) });
    if (said?.type === 'hello') {
      this.#hello = text;
      listener.message(relay);
      listener.message(JSON.stringify({ type: 'proof', proof: this.#mac('pairing relay', relay) }));
      return;
    }
    if (said?.proof === this.#mac('pairing extension', relay)) {
      const pad = Buffer.from(this.#mac('pairing secret', relay), 'hex');
      const sealed = Buffer.from(secret, 'hex').map((value, i) => value ^ (pad[i] ?? 0));
      listener.message(JSON.stringify({ type: 'paired', secret: Buffer.from(sealed).toString('hex') }));
      listener.closed(1000, 'paired');
    }
  }

  #mac(role: string, relay: string): string {
    const nonce = this.heard[0]?.nonce ?? '';
    const hellos = createHash('sha256').update(`${this.#hello}\n${relay}`).digest('hex');
    const lines = ['tabrelay.v1', role, '2', address, identity.extensionId, identity.profile.id, nonce];
    const text = [...lines, '2'.repeat(64), hellos].join('\n');
    return createHmac('sha256', Buffer.from(this.#known, 'hex')).update(text).digest('hex');
  }
}

const pasted = { address, code };

test('a string is exchanged for the secret', async () => {
  const relay = new FakeRelay(code);
  assert.deepEqual(await exchange(identity, pasted, relay.dial), { address, secret });
  assert.equal(relay.heard[0]?.pair, true);
  assert.deepEqual(
    relay.heard.map(({ type }) => type),
    ['hello', 'proof'],
  );
});

test('a program that does not know the string learns nothing and gives nothing', async () => {
  const squatter = new FakeRelay('f'.repeat(32));
  await assert.rejects(exchange(identity, pasted, squatter.dial), /could not prove/);
  assert.deepEqual(
    squatter.heard.map(({ type }) => type),
    ['hello'],
  );
  assert.ok(!JSON.stringify(squatter.heard).includes(code));
  assert.equal(squatter.closedWith, 4000);
});

test('a refusal is told in the words of the relay', async () => {
  const dial = (_url: string, listener: SocketListener): Socket => {
    queueMicrotask(() => {
      listener.opened();
      listener.message(
        '{"type":"refuse","code":"PAIRING_FAILED","message":"No pairing string is valid now: run `tabrelay pair`."}',
      );
      listener.closed(4401, 'No');
    });
    return { send() {}, close() {} };
  };
  await assert.rejects(exchange(identity, pasted, dial), /No pairing string is valid now/);
});

test('a welcome or a secret before the proofs counts for nothing', async () => {
  const dial = (_url: string, listener: SocketListener): Socket => {
    queueMicrotask(() => {
      listener.opened();
      listener.message(JSON.stringify({ type: 'paired', secret: 'cd'.repeat(32) }));
      listener.closed(1000, '');
    });
    return { send() {}, close() {} };
  };
  await assert.rejects(exchange(identity, pasted, dial), /No relay answers at 127.0.0.1:7717/);
});

test('silence ends the attempt', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const ended = assert.rejects(exchange(identity, pasted, new FakeRelay(code, true).dial), /in time/);
    mock.timers.tick(5000);
    await ended;
  } finally {
    mock.timers.reset();
  }
});

test('only a pairing string of this machine is one', () => {
  assert.deepEqual(parsePairingString(` ${address}/${code.toUpperCase()}\n`), pasted);
  assert.deepEqual(parsePairingString(`[::1]:1/${code}`), { address: '[::1]:1', code });
  for (const text of [
    '',
    code,
    `/${code}`,
    `evil.example:7717/${code}`,
    `127.0.0.1.evil.example:7717/${code}`,
    `127.0.0.1:7717@evil.example/${code}`,
    `${address}/${code}0`,
    `${address}/${code.slice(1)}`,
    `ws://${address}/${code}`,
  ])
    assert.equal(parsePairingString(text), undefined, text);
});

test('the panel is told what became of a string', async () => {
  const kept: unknown[] = [];
  const phases: string[] = [];
  let known = 'f'.repeat(32);
  let counts = true;
  const pairer = new Pairer({
    exchange: (given) => exchange(identity, given, new FakeRelay(known).dial),
    keep: async (pairing) => {
      kept.push(pairing);
      return counts;
    },
    paired: () => phases.push('dials'),
    changed: () => phases.push(pairer.state.phase),
  });
  await pairer.pairWith('nonsense');
  assert.match(pairer.state.message, /not a pairing string/);
  await pairer.pairWith(`${address}/${code}`);
  assert.match(pairer.state.message, /could not prove/);
  known = code;
  await Promise.all([pairer.pairWith(`${address}/${code}`), pairer.pairWith(`${address}/${code}`)]);
  counts = false;
  await pairer.pairWith(`${address}/${code}`);
  assert.match(pairer.state.message, /loaded from tabrelay’s folder/);
  assert.deepEqual(kept, [
    { address, secret },
    { address, secret },
  ]);
  assert.deepEqual(phases, ['failed', 'trying', 'failed', 'trying', 'done', 'dials', 'trying', 'failed']);
});
