import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import { NativeHost } from '../src/worker/link/native-host.ts';
import { Paired } from '../src/worker/link/paired.ts';

const secret = 'ab'.repeat(32);
const found = { address: '127.0.0.1:7717', secret, running: false, version: '0.1.0' };

/**
 * Gives the extension a browser that answers as the program would, or tells the error that is thrown; the messages are
 * kept, and where a conversation was ended from here.
 */
function browser(
  t: TestContext,
  answer: ((type: string) => unknown) | undefined,
  stored: object = {},
): string[] {
  const asked: string[] = [];
  const before = Reflect.get(globalThis, 'chrome');
  const connectNative = () => {
    const heard: ((message: unknown) => void)[] = [];
    const ended: (() => void)[] = [];
    return {
      onMessage: { addListener: (listener: (message: unknown) => void) => heard.push(listener) },
      onDisconnect: { addListener: (listener: () => void) => ended.push(listener) },
      disconnect: () => asked.push('disconnect'),
      async postMessage({ type }: { type: string }) {
        asked.push(type);
        try {
          const said = await answer?.(type);
          for (const listener of heard) listener(said);
        } catch (why) {
          Reflect.set(Reflect.get(globalThis, 'chrome').runtime, 'lastError', why);
          for (const listener of ended) listener();
        }
      },
    };
  };
  Reflect.set(globalThis, 'chrome', {
    runtime: { id: 'a'.repeat(32), getURL: () => 'data:,', ...(answer && { connectNative }) },
    storage: { local: { get: async (key: string) => (key in stored ? stored : {}) } },
  });
  t.after(() => Reflect.set(globalThis, 'chrome', before));
  return asked;
}

test('the program is asked where the relay is, once while it is dialled again and again', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  t.after(() => mock.timers.reset());
  const asked = browser(t, () => found);
  const host = new NativeHost(() => {});
  assert.deepEqual(await host.find(), { address: '127.0.0.1:7717', secret });
  await host.find();
  assert.deepEqual(asked, ['find', 'disconnect']);
  assert.equal(host.state.phase, 'found');
  mock.timers.tick(10_001);
  await host.find();
  assert.deepEqual(asked, ['find', 'disconnect', 'find', 'disconnect']);
});

test('an extension that may not ask does not, and one without a program learns that', async (t) => {
  browser(t, undefined);
  const silent = new NativeHost(() => {});
  assert.equal(await silent.find(), undefined);
  assert.equal(silent.state.phase, 'unknown');
  browser(t, () => {
    throw new Error('Specified native messaging host not found.');
  });
  const alone = new NativeHost(() => {});
  assert.equal(await alone.find(), undefined);
  assert.equal(alone.state.phase, 'absent');
});

test('a program that is not there yet is looked for every second, which starts nothing', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  t.after(() => mock.timers.reset());
  let there = false;
  browser(t, () => {
    if (!there) throw new Error('Specified native messaging host not found.');
    return found;
  });
  const host = new NativeHost(() => {});
  assert.equal(await host.find(), undefined);
  there = true;
  assert.equal(await host.find(), undefined);
  mock.timers.tick(1000);
  assert.deepEqual(await host.find(), { address: '127.0.0.1:7717', secret });
});

test('why Chrome could not ask the program is said in words with a next step', async (t) => {
  for (const [said, phase, message] of [
    ['Native host has exited.', 'absent', /may have been moved, deleted/],
    ['Error when communicating with the native messaging host.', 'absent', /may have been moved, deleted/],
    ['Access to the specified native messaging host is forbidden.', 'failed', /extensionIds lacks a{32}$/],
  ] as const) {
    browser(t, () => {
      throw new Error(said);
    });
    const host = new NativeHost(() => {});
    assert.equal(await host.find(), undefined);
    assert.equal(host.state.phase, phase);
    assert.match(host.state.message, message);
  }
});

test('a program that does not answer is given up and does not stay', async (t) => {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
  t.after(() => mock.timers.reset());
  const asked = browser(t, () => new Promise(() => {}));
  const host = new NativeHost(() => {});
  const dialled = host.find();
  mock.timers.tick(10_000);
  assert.equal(await dialled, undefined);
  assert.match(host.state.message, /did not answer in time/);
  assert.deepEqual(asked, ['find', 'disconnect']);
});

test('a browser that the person has unpaired leaves the program alone, and can be paired again by it', async (t) => {
  const asked = browser(t, () => found, { unpaired: true });
  const paired = new Paired(() => {}, new NativeHost(() => {}));
  assert.equal(await paired.read(), undefined);
  assert.deepEqual(asked, []);
  assert.equal(paired.state.byItself, true);
});

test('what the program said is forgotten once another pairing counts', async (t) => {
  const stored = {};
  browser(t, () => found, stored);
  const host = new NativeHost(() => {});
  const paired = new Paired(() => {}, host);
  await paired.read();
  assert.equal(host.state.phase, 'found');
  Reflect.set(stored, 'pairing', { address: '127.0.0.1:9', secret });
  assert.equal((await paired.read())?.address, '127.0.0.1:9');
  assert.equal(host.state.phase, 'unknown');
});

test('what the program cannot do is said, and what is no answer is not used', async (t) => {
  for (const [answer, message] of [
    [{ running: false, problem: { message: 'no room', hint: 'make some' } }, 'no room: make some'],
    [{ running: false, problem: { message: 'no room' } }, 'no room'],
    ['127.0.0.1:7717', /does not understand/],
    [{ address: 7717, secret, running: true }, /does not understand/],
  ] as const) {
    browser(t, () => answer);
    const host = new NativeHost(() => {});
    assert.equal(await host.find(), undefined);
    assert.equal(host.state.phase, 'failed');
    if (typeof message === 'string') assert.equal(host.state.message, message);
    else assert.match(host.state.message, message);
  }
});

test('the relay is started once at a time', async (t) => {
  let resolve = (_answer: unknown) => {};
  const promise = new Promise<unknown>((resolved) => {
    resolve = resolved;
  });
  const asked = browser(t, (type) => (type === 'start' ? promise : found));
  const phases: string[] = [];
  const host = new NativeHost(() => phases.push(host.state.phase));
  const first = host.start();
  assert.equal(await host.start(), false);
  assert.equal(await host.find(), undefined); // dialled meanwhile: the answer is awaited
  resolve({ ...found, running: true });
  assert.equal(await first, true);
  assert.deepEqual(await host.find(), { address: '127.0.0.1:7717', secret });
  assert.deepEqual(asked, ['start', 'disconnect']);
  assert.deepEqual(phases, ['starting', 'found']);
});

test('why a start failed is said until one succeeds', async (t) => {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
  t.after(() => mock.timers.reset());
  let start: object = { running: false, problem: { message: 'the port is taken', hint: 'free it' } };
  browser(t, (type) => (type === 'start' ? start : found));
  const host = new NativeHost(() => {});
  assert.equal(await host.start(), false);
  const failed = { phase: 'found', message: 'the port is taken: free it' };
  assert.deepEqual(host.state, failed);
  mock.timers.tick(10_001);
  await host.find();
  assert.deepEqual(host.state, failed);
  start = { ...found, running: true };
  assert.equal(await host.start(), true);
  assert.deepEqual(host.state, { phase: 'found', message: '' });
});

test('only this machine is dialled, and what was pasted counts more than what the program says', async (t) => {
  for (const [answer, stored, address] of [
    [found, {}, '127.0.0.1:7717'],
    [{ ...found, address: 'evil.example:7717' }, {}, undefined],
    [{ ...found, secret: 'short' }, {}, undefined],
    [found, { pairing: { address: '127.0.0.1:9', secret } }, '127.0.0.1:9'],
  ] as const) {
    browser(t, () => answer, stored);
    const host = new NativeHost(() => {});
    const paired = new Paired(() => {}, host);
    assert.equal((await paired.read())?.address, address);
    assert.equal(paired.state.byItself, address === '127.0.0.1:7717');
  }
});
