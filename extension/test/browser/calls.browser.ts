import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Stage, setStage } from './stage.ts';

let stage: Stage;
before(async () => {
  stage = await setStage((request, response) => {
    response.setHeader('content-type', 'text/html');
    if (request.url === '/csp') {
      response.setHeader(
        'content-security-policy',
        "default-src 'none'; script-src 'none'; require-trusted-types-for 'script'",
      );
    }
    const noise = `<script>
      document.addEventListener('make-noise', () => {
        console.warn('watch', 'out'); console.error(new RangeError('bad range')); console.log('not this');
        setTimeout(() => { throw new Error('uncaught one') }); Promise.reject(new Error('rejected one'));
      });</script>`;
    response.end(
      `<!doctype html><title>${request.url}</title>${request.url === '/noise' ? noise : ''}<p>page`,
    );
  });
});
after(() => stage?.close());

test('a call for another origin than the page has is not run, one for its own is', async () => {
  const { tabId, page } = await stage.open('/iso/origin');
  const elsewhere = await stage.call(tabId, 'iso.echo', {}, { origin: 'https://bank.example' }).outcome;
  assert.equal(elsewhere.frame.status, 'refused');
  assert.match(JSON.stringify(elsewhere.frame.refusal), /TAB_CHANGED.*not_executed/);
  const here = await stage.call(tabId, 'iso.echo', {}, { origin: stage.origin }).outcome;
  assert.equal(here.frame.status, 'returned');
  await page.close();
});

for (const world of ['iso', 'main']) {
  test(`${world}: a value comes back as the page encoded it`, async () => {
    const { tabId, page } = await stage.open(`/${world}/value`);
    const { frame, payload } = await stage.call(tabId, `${world}.echo`, { a: [1, 'ü\n"'], b: null }).outcome;
    assert.equal(frame.status, 'returned');
    assert.equal(frame.started, true);
    assert.equal(frame.trust, undefined);
    assert.equal(frame.origin, stage.origin);
    assert.equal(payload, '{"a":[1,"ü\\n\\""],"b":null}');
    assert.equal((await stage.call(tabId, `${world}.nothing`).outcome).payload, 'null');
    const settings = await stage.call(tabId, `${world}.settings`, {}, { settings: { key: 'v' } }).outcome;
    assert.equal(settings.payload, '{"key":"v"}');
    await page.close();
  });

  test(`${world}: what a tool throws comes back field by field`, async () => {
    const { tabId, page } = await stage.open(`/${world}/throw`);
    const error = {
      code: 'RATE_LIMITED',
      category: 'rate_limit',
      retryable: true,
      retryAfterMs: 2000,
      message: 'slow',
    };
    const threw = await stage.call(tabId, `${world}.throwTool`, { error }).outcome;
    assert.equal(threw.frame.status, 'threw');
    assert.deepEqual(threw.frame.error, error);
    const plain = await stage.call(tabId, `${world}.throwPlain`).outcome;
    const internal = { code: 'INTERNAL_ERROR', category: 'internal', retryable: false };
    assert.deepEqual(plain.frame.error, { ...internal, message: 'plain' });
    const text = await stage.call(tabId, `${world}.throwText`).outcome;
    assert.deepEqual(text.frame.error, { ...internal, message: 'just text' });
    const cycle = await stage.call(tabId, `${world}.cycle`).outcome;
    assert.equal(cycle.frame.status, 'returned');
    assert.match(cycle.payload, /^The tool's result is not JSON: .*\n.*\[see above\]/);
    await page.close();
  });

  test(`${world}: a result above the limit stays in the page`, async () => {
    const { tabId, page } = await stage.open(`/${world}/big`);
    const limit = { maxResultBytes: 1000 };
    const fits = await stage.call(tabId, `${world}.big`, { size: 998 }, limit).outcome;
    assert.equal(fits.frame.status, 'returned');
    const large = await stage.call(tabId, `${world}.big`, { size: 999 }, limit).outcome;
    assert.match(JSON.stringify(large.frame.refusal), /OUTPUT_TOO_LARGE.*executed/);
    const huge = await stage.call(tabId, `${world}.big`, { size: 8 << 20 }).outcome;
    assert.equal(huge.payload.length, (8 << 20) + 2);
    await page.close();
  });

  test(`${world}: works where the page allows no script at all`, async () => {
    const { tabId, page } = await stage.open('/csp');
    const { payload } = await stage.call(tabId, `${world}.title`).outcome;
    assert.equal(payload, '{"title":"/csp"}');
    await page.close();
  });

  test(`${world}: cancelling fires the signal and ends the call`, async () => {
    const { tabId, page } = await stage.open(`/${world}/cancel`);
    const call = stage.call(tabId, `${world}.watchSignal`);
    await call.started;
    stage.relay.send({ type: 'cancel', id: call.id, reason: 'client' });
    assert.match(JSON.stringify((await call.outcome).frame.refusal), /CANCELLED.*unknown/);
    // The handler's own end follows: until then its tab is still in use.
    await stage.relay.wait(({ status, id }) => status === 'threw' && id === call.id, 0);
    assert.equal(stage.hits.get('/hit/aborted/AbortError'), world === 'iso' ? 1 : 2);
    await page.close();
  });

  test(`${world}: deadlines have their reasons`, async () => {
    const { tabId, page } = await stage.open(`/${world}/deadline`);
    const refusal = async (tool: string, args: object, extra: object) =>
      (await stage.call(tabId, `${world}.${tool}`, args, extra).outcome).frame.refusal;
    const idle = await refusal('sleep', { ms: 20_000 }, { timeoutMs: 500, maxTimeoutMs: 300_000 });
    assert.match(JSON.stringify(idle), /TIMEOUT.*unknown/);
    assert.match(JSON.stringify(idle), /"idle"/);
    // One sign of life in the first five seconds is enough to come to the maximum.
    const most = { timeoutMs: 5000, maxTimeoutMs: 5100 };
    const max = await refusal('keepAlive', { ms: 20_000, every: 150 }, most);
    assert.match(JSON.stringify(max), /"max_exceeded"/);
    const once = { timeoutMs: 500, maxTimeoutMs: 300_000, progressExtends: false };
    const fixed = await refusal('keepAlive', { ms: 20_000, every: 50 }, once);
    assert.match(JSON.stringify(fixed), /"fixed"/);
    await page.close();
  });

  test(`${world}: progress and log arrive while the tool runs`, async () => {
    const { tabId, page } = await stage.open(`/${world}/steps`);
    const from = stage.relay.got.length;
    const { id, outcome } = stage.call(tabId, `${world}.steps`);
    const { payload } = await outcome;
    assert.equal(payload, '"done"');
    const said = stage.relay.got.slice(from).filter(({ frame }) => frame.id === id);
    assert.deepEqual(
      said.map(({ frame }) => frame.type),
      ['started', 'progress', 'log', 'progress', 'outcome'],
    );
    assert.deepEqual(said[1]?.frame, { type: 'progress', id, progress: 1, total: 2, message: 'half' });
    assert.deepEqual(said[2]?.frame, { type: 'log', id, level: 'info', message: 'working', data: { n: 1 } });
    await page.close();
  });

  test(`${world}: a failure brings the end of the page's console`, async () => {
    const { tabId, page } = await stage.open('/noise');
    const { frame } = await stage.call(tabId, `${world}.provoke`).outcome;
    assert.deepEqual(String(frame.consoleTail).split('\n').sort(), [
      'error: RangeError: bad range',
      'error: said by the plugin',
      'uncaught: Uncaught Error: uncaught one',
      'unhandled rejection: Error: rejected one',
      'warning: watch out',
    ]);
    const quiet = await stage.call(tabId, `${world}.provoke`, {}, { consoleTailBytes: 0 }).outcome;
    assert.equal(quiet.frame.consoleTail, undefined);
    await page.close();
  });
}

test('an address the plugin does not serve is refused in the document', async () => {
  const { tabId, page } = await stage.open('/spa');
  await stage.call(tabId, 'iso.echo').outcome;
  await page.evaluate(() => history.pushState(null, '', '/excluded/x'));
  for (const world of ['iso', 'main']) {
    const { frame } = await stage.call(tabId, `${world}.echo`, {}, { write: true }).outcome;
    assert.match(JSON.stringify(frame.refusal), /TAB_CHANGED.*not_executed/);
  }
  await page.close();
});

test('an unknown tab and an unknown plugin version are refused before anything runs', async () => {
  const none = await stage.call(999_999, 'iso.echo').outcome;
  assert.match(JSON.stringify(none.frame.refusal), /TAB_NOT_FOUND.*not_executed/);
  const { tabId, page } = await stage.open('/version');
  const old = await stage.call(tabId, 'iso.echo', {}, { hash: 'b'.repeat(64) }).outcome;
  assert.match(JSON.stringify(old.frame.refusal), /ADAPTER_NOT_READY.*not_executed/);
  await page.close();
});
