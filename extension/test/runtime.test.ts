import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';

// The page's clock and timers are captured when the runtime is loaded, so they are replaced before that.
let time = 0;
performance.now = () => time;
mock.method(Performance.prototype, 'now', () => time);
mock.timers.enable({ apis: ['setTimeout'] });
Reflect.set(globalThis, 'location', { href: 'https://a.example/page' });
const { readAdapter } = await import('../src/page/definition.ts');
const { startRun } = await import('../src/page/runtime.ts');

const order = {
  id: '0'.repeat(32),
  plugin: 'p',
  hash: 'h',
  tool: 't',
  args: '{"n":1}',
  settings: { key: 'value' },
  tabId: 7,
  timeoutMs: 1000,
  maxTimeoutMs: 3000,
  progressExtends: true,
  maxResultBytes: 1000,
  maxBytes: 32_768,
  matches: ['https://a.example/*'],
  excludes: [],
};

function advance(ms: number): void {
  for (let i = 0; i < ms; i += 10) {
    time += 10;
    mock.timers.tick(10);
  }
}

// Time that passes in steps in which promises settle.
async function settled(ms: number): Promise<void> {
  for (let i = 0; i < ms; i += 100) {
    await turn();
    advance(100);
  }
  await turn();
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

type Said = [what: string, about?: unknown];

function run(
  handle: (params: unknown, ctx: Context) => unknown,
  extra: object = {},
  isReady?: () => unknown,
) {
  const said: Said[] = [];
  const adapter = readAdapter({ tools: [{ name: 't', handle }], ...(isReady && { isReady }) });
  const tool = adapter?.tool('t');
  assert.ok(adapter !== undefined && tool !== undefined);
  const started = startRun({ ...order, ...extra }, adapter, tool, {
    waiting: () => said.push(['waiting']),
    started: () => said.push(['started']),
    progress: (step) => said.push(['progress', step]),
    log: (line) => said.push(['log', line]),
    ended: (ending) => said.push(['ended', ending]),
    late: (ending) => said.push(['late', ending]),
  });
  return { said, started, words: () => said.map(([what]) => what) };
}

interface Context {
  signal: AbortSignal;
  settings: object;
  tab: object;
  maxBytes: number | undefined;
  idempotencyKey: string;
  reportProgress(step: object): void;
  log: Record<'debug' | 'info' | 'warn' | 'error', (message: unknown, data?: unknown) => void>;
}

beforeEach(() => {
  time = 0;
});
afterEach(() => advance(10_000));

test('a handler gets its arguments and its context, and its value is encoded', async () => {
  let seen: unknown;
  const { said } = run((params, ctx) => {
    seen = {
      params,
      settings: ctx.settings,
      tab: ctx.tab,
      key: ctx.idempotencyKey,
      maxBytes: ctx.maxBytes,
    };
    return Promise.resolve({ fine: true });
  });
  await turn();
  assert.deepEqual(seen, {
    params: { n: 1 },
    settings: { key: 'value' },
    tab: { id: 7, url: 'https://a.example/page' },
    key: order.id,
    maxBytes: 32_768,
  });
  assert.deepEqual(said, [['started'], ['ended', { status: 'returned', value: '{"fine":true}' }]]);
});

test('a handler that throws at once and one that rejects end alike', async () => {
  for (const handle of [
    () => {
      throw new Error('no');
    },
    () => Promise.reject(new Error('no')),
  ]) {
    const { said } = run(handle);
    await turn();
    assert.equal(JSON.stringify(said[1]).includes('"message":"no"'), true);
  }
});

test('only a call that asks for it is told where an error was thrown', () => {
  const thrower = () => {
    const error = new Error('no');
    Object.defineProperty(error, 'stack', {
      value: 'Error: no\n    at f (https://a.example/x.js?token=1:2:3)',
    });
    throw error;
  };
  assert.equal(JSON.stringify(run(thrower).said).includes('x.js'), false);
  assert.match(JSON.stringify(run(thrower, { trace: true }).said), /"traceLine":"\/x\.js:2:3"/);
});

test('an address the plugin does not serve never starts', () => {
  const { said } = run(() => 1, { matches: ['https://b.example/*'] });
  assert.match(JSON.stringify(said), /^\[\["ended",.*TAB_CHANGED.*not_executed/);
});

test('an adapter that is not ready never starts', async () => {
  const no = run(
    () => 1,
    {},
    () => Promise.resolve(false),
  );
  await settled(600);
  assert.deepEqual(no.words(), ['waiting', 'ended']);
  assert.match(JSON.stringify(no.said), /ADAPTER_NOT_READY.*not_executed/);
  const hangs = run(
    () => 1,
    { timeoutMs: 20_000, maxTimeoutMs: 20_000 },
    () => new Promise(() => {}),
  );
  advance(1990);
  assert.deepEqual(hangs.words(), ['waiting']);
  advance(10);
  assert.match(JSON.stringify(hangs.said), /ADAPTER_NOT_READY.*did not answer.*"reason":"not_ready"/);
  const broken = run(
    () => 1,
    {},
    () => {
      throw new Error('no session');
    },
  );
  assert.deepEqual(broken.words(), ['waiting']); // it may have what it needs in a moment
  advance(2000);
  assert.deepEqual(broken.words(), ['waiting', 'ended']);
  assert.match(JSON.stringify(broken.said), /not ready for this plugin: no session.*"reason":"not_ready"/);
  broken.started.abort('cancelled');
  advance(6000);
  assert.equal(broken.said.length, 2);
  const yes = run(
    () => 1,
    {},
    () => true,
  );
  await turn();
  assert.deepEqual(yes.words(), ['waiting', 'started', 'ended']);
});

test('an adapter that becomes ready is asked again, and at once when it says so', async () => {
  let ready = false;
  let asked = 0;
  let changed = () => {};
  const said: Said[] = [];
  const definition = { tools: [{ name: 't', handle: () => 1 }], isReady: () => ++asked > 0 && ready };
  const adapter = readAdapter(definition, (scope: { readinessChanged(): void }) => {
    changed = scope.readinessChanged;
  });
  const tool = adapter?.tool('t');
  assert.ok(adapter !== undefined && tool !== undefined);
  const note = (what: string) => () => said.push([what]);
  startRun({ ...order, timeoutMs: 10_000, maxTimeoutMs: 10_000 }, adapter, tool, {
    waiting: note('waiting'),
    started: note('started'),
    progress: note('progress'),
    log: note('log'),
    ended: note('ended'),
    late: note('late'),
  });
  await settled(300);
  assert.equal(asked, 2);
  ready = true;
  changed();
  await turn();
  assert.deepEqual(said, [['waiting'], ['started'], ['ended']]);
  assert.equal(asked, 3);
});

test('the check of who is signed in waits half of its call, and says where it cannot know', async () => {
  const check = async (signIn: object | undefined, ms: number, timeoutMs = 20_000) => {
    const said: Said[] = [];
    const adapter = readAdapter({ tools: [], signIn });
    const tool = adapter?.tool('signIn');
    assert.ok(adapter !== undefined && tool !== undefined);
    const note = (what: string) => (about?: unknown) => said.push([what, about]);
    const [waiting, started, progress] = [note('waiting'), note('started'), note('progress')];
    const [log, ended, late] = [note('log'), note('ended'), note('late')];
    const about = { ...order, timeoutMs, maxTimeoutMs: timeoutMs };
    startRun(about, adapter, tool, { waiting, started, progress, log, ended, late });
    await settled(ms);
    return JSON.stringify(said.filter(([what]) => what === 'ended'));
  };
  let asked = 0;
  let signedIn = false;
  const signIn = { isSignedIn: () => ++asked > 0 && signedIn, loginUrl: 'https://a.example/in' };
  assert.equal(await check(signIn, 4900), '[]');
  assert.equal(asked, 5);
  await settled(200);
  signedIn = true;
  assert.match(await check(signIn, 0), /"value":"true"/);
  signedIn = false;
  assert.match(await check(signIn, 5000), /AUTH_ERROR.*https:\/\/a\.example\/in.*not_executed/);
  assert.match(await check(signIn, 0, 10_000), /AUTH_ERROR/); // without time to wait it is asked once
  assert.match(await check(undefined, 0), /"value":"false"/);
  assert.match(await check({ loginUrl: '/in' }, 0), /"value":"false"/);
});

test('hooks hear of calls, and what they throw ends nothing', async () => {
  const heard: unknown[] = [];
  const adapter = readAdapter({
    tools: [
      { name: 't', handle: () => 1 },
      { name: 'bad', handle: () => Promise.reject(new Error('no')) },
    ],
    onToolInvocationStart: (tool: string) => heard.push(['start', tool]),
    onToolInvocationEnd(tool: string, success: boolean) {
      heard.push(['end', tool, success]);
      throw new Error('in a hook');
    },
  });
  const lines: string[] = [];
  for (const name of ['t', 'bad']) {
    const tool = adapter?.tool(name);
    assert.ok(adapter !== undefined && tool !== undefined);
    const quiet = () => {};
    startRun({ ...order, tool: name }, adapter, tool, {
      waiting: quiet,
      started: quiet,
      progress: quiet,
      log: (line) => lines.push(line.message),
      ended: (ending) => heard.push(ending.status),
      late: quiet,
    });
    await turn();
  }
  assert.deepEqual(heard, [
    ['start', 't'],
    ['end', 't', true],
    'returned',
    ['start', 'bad'],
    ['end', 'bad', false],
    'threw',
  ]);
  assert.deepEqual(lines, ['onToolInvocationEnd failed: in a hook', 'onToolInvocationEnd failed: in a hook']);
});

test('of several installations a handler sees the one of its page', async () => {
  const settings = { url: { a: 'https://b.example/x', b: 'https://a.example/' }, key: 'value' };
  const { said } = run((_params, ctx) => ctx.settings, { settings });
  await turn();
  assert.match(JSON.stringify(said.at(-1)), /https:\/\/a\.example\/.*value/);
});

test('idle, maximum and fixed deadlines', () => {
  const idle = run(() => new Promise(() => {}));
  advance(990);
  assert.deepEqual(idle.words(), ['started']);
  advance(10);
  assert.match(JSON.stringify(idle.said[1]), /"idle".*1s \(no progress reported\)/);

  let report = (_step: object) => {};
  const busy = () =>
    run((_params, ctx) => {
      report = ctx.reportProgress;
      return new Promise(() => {});
    });
  const max = busy();
  for (let i = 0; i < 6; i++) {
    advance(490);
    report({});
  }
  assert.equal(max.words().includes('ended'), false);
  advance(100);
  assert.match(JSON.stringify(max.said.at(-1)), /"max_exceeded".*3s/);
});

test('a burst of ten steps goes out whole; of a flood, ten a second, the latest of each tenth', () => {
  let report = (_step: object) => {};
  const { said } = run((_params, ctx) => {
    report = ctx.reportProgress;
    for (let step = 1; step <= 10; step++) report({ progress: step });
    return new Promise(() => {});
  });
  const values = () => said.flatMap(([what, step]) => (what === 'progress' ? [step] : []));
  assert.deepEqual(
    values(),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((progress) => ({ progress })),
  );
  for (let step = 11; step <= 30; step++) {
    report({ progress: step });
    advance(10);
  }
  assert.deepEqual(values().slice(10), [{ progress: 20 }, { progress: 30 }]);
});

test('a sign of progress that the tool has not reported itself counts like one', () => {
  const { said, started, words } = run(() => new Promise(() => {}));
  advance(990);
  started.progressFromConsole('uploaded 1');
  assert.deepEqual(said[1], ['progress', { progress: 1, message: 'uploaded 1' }]);
  advance(990);
  assert.equal(words().includes('ended'), false);
  advance(10);
  assert.match(JSON.stringify(said.at(-1)), /"idle"/);
});

test('progress does not help where it must not', () => {
  const { said } = run(
    (_params, ctx) => {
      ctx.reportProgress({});
      return new Promise(() => {});
    },
    { progressExtends: false },
  );
  advance(1000);
  assert.match(JSON.stringify(said.at(-1)), /"fixed"/);
});

test('the signal fires, and the end of a handler that goes on is told as late', async () => {
  let finish = (_value: string) => {};
  let reason = '';
  const { said, started, words } = run((_params, ctx) => {
    ctx.signal.addEventListener('abort', () => {
      reason = ctx.signal.reason.name;
    });
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  started.abort('cancelled');
  assert.equal(reason, 'AbortError');
  assert.match(JSON.stringify(said.at(-1)), /CANCELLED.*unknown/);
  finish('after all');
  await turn();
  assert.deepEqual(words(), ['started', 'ended', 'late']);
  assert.deepEqual(said.at(-1), ['late', { status: 'returned', value: '"after all"' }]);
  started.abort('cancelled');
  assert.equal(said.length, 3);
});

test('a busy reporter is thinned out, and its last step is kept', async () => {
  const { said } = run((_params, ctx) => {
    for (let i = 1; i <= 100; i++) ctx.reportProgress({ progress: i, total: 100, message: 'x'.repeat(9000) });
    return 'ok';
  });
  await turn();
  const steps = said.filter(([what]) => what === 'progress');
  assert.equal(steps.length, 11);
  assert.match(JSON.stringify(steps[10]), /"progress":100,"total":100/);
  assert.ok(JSON.stringify(steps[10]).length < 5000);
});

test('log lines are bounded and carry plain data', async () => {
  const { said } = run((_params, ctx) => {
    for (let i = 0; i < 500; i++) ctx.log.warn(`line ${i}`, { i, gone: () => 1 });
    return 'ok';
  });
  await turn();
  const lines = said.filter(([what]) => what === 'log');
  assert.equal(lines.length, 201);
  assert.deepEqual(lines[3], ['log', { level: 'warning', message: 'line 3', data: { i: 3 } }]);
  assert.match(JSON.stringify(lines[200]), /Only the first 200/);
});

test('errors and loops in the data of a log line are told', async () => {
  const { said } = run((_params, ctx) => {
    const loop: Record<string, unknown> = { name: 'loop' };
    loop.self = loop;
    ctx.log.error('failed', new RangeError('too far'));
    ctx.log.error('twice', { cause: new Error('inner'), tried: 2 });
    ctx.log.error('loop', loop);
    return 'ok';
  });
  await turn();
  const data = said.flatMap(([what, line]) => (what === 'log' ? [Reflect.get(Object(line), 'data')] : []));
  assert.deepEqual(data, [
    'RangeError: too far',
    { cause: 'Error: inner', tried: 2 },
    '{"name":"loop","self":"[see above]"}',
  ]);
});

test('a result above the limit is replaced where it is', async () => {
  const { said } = run(() => 'ä'.repeat(600));
  await turn();
  assert.match(JSON.stringify(said.at(-1)), /OUTPUT_TOO_LARGE.*executed/);
});

test('what cannot be shown is logged as such and makes no tool fail', async () => {
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error('trap');
      },
    },
  );
  const { said } = run((_, ctx) => {
    ctx.log.error(trap);
    return 1;
  });
  await turn();
  assert.deepEqual(said[1], ['log', { level: 'error', message: '[unprintable]', data: undefined }]);
  assert.deepEqual(said[2], ['ended', { status: 'returned', value: '1' }]);
});

test('a value without a JSON form ends the call, and says that the tool ran', async () => {
  const { said } = run(() => 1n);
  await turn();
  const value = 'The tool\'s result is not JSON: Do not know how to serialize a BigInt\n"1n"';
  assert.deepEqual(said[1], ['ended', { status: 'returned', value }]);
});

test('a then that the page hangs on all data neither takes nor keeps an answer', async () => {
  const thieves = [
    (done: (value: unknown) => void) => done('forged'),
    () => {}, // never answers
  ];
  for (const thief of thieves) {
    let asked = 0;
    try {
      // Only for what the tool returns: this test runner is made of promises as well.
      Object.defineProperty(Object.prototype, 'then', {
        configurable: true,
        get() {
          if (!Object.hasOwn(this, 'ofTheTool')) return undefined;
          asked++;
          return thief;
        },
      });
      const plain = run(() => ({ ofTheTool: [1] }));
      const later = run(async () => ({ ofTheTool: [1] }));
      const promised = run(() => Promise.resolve(1).then(() => 2));
      await turn();
      assert.equal(asked, 0);
      assert.match(JSON.stringify(plain.said.at(-1)), /"returned".*ofTheTool.*1/);
      assert.deepEqual(later.words(), ['ended']);
      assert.match(JSON.stringify(later.said), /INVALID_OUTPUT.*not_executed/);
      assert.match(JSON.stringify(promised.said), /started.*INVALID_OUTPUT.*unknown/);
    } finally {
      Reflect.deleteProperty(Object.prototype, 'then');
    }
  }
});

test("a plugin's own thenable is followed", async () => {
  class Later {
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    then(done: (value: unknown) => void): void {
      done(Promise.resolve({ b: 2 }));
      done('twice');
    }
  }
  const followed = run(() => new Later());
  const refused = run(() => ({
    // biome-ignore lint/suspicious/noThenProperty: as above
    then(_done: unknown, fail: (why: unknown) => void) {
      fail(new Error('no'));
    },
  }));
  await turn();
  assert.match(JSON.stringify(followed.said.at(-1)), /\{\\"b\\":2\}/);
  assert.match(JSON.stringify(refused.said.at(-1)), /threw.*no/);
});
