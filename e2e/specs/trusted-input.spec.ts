// The flavour of the extension with Chrome's debugger: attached for one act, beside others that debug the same tab, and
// gone a moment later; without it, the acts that need it say so.
import type { BrowserContext } from '@playwright/test';
import { z } from 'zod';
import { openDevSite } from '../sites/dev.ts';
import { Acting } from '../stage/acting.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

const plugins = { 'browser-dev': { enabled: true } };

test.use({ groundOptions: { config: { plugins, trustedInput: true } } });

const isAttached = async (browser: BrowserContext): Promise<boolean> => {
  const worker = browser.serviceWorkers()[0] ?? (await browser.waitForEvent('serviceworker'));
  return worker.evaluate(async () => {
    const detached = await Promise.all(
      (await chrome.tabs.query({})).map(({ id }) =>
        chrome.debugger.sendCommand({ tabId: id ?? 0 }, 'Runtime.evaluate', { expression: '1' }).then(
          () => false,
          () => true,
        ),
      ),
    );
    return detached.includes(false);
  });
};

async function openPage(stage: Stage, html: string): Promise<Acting> {
  await stage.page.setContent(html);
  return new Acting(stage.agent);
}

const onlyTrusted = `<!doctype html><title>Only trusted</title><button>Count</button><output>0</output><script>
  document.querySelector('button').addEventListener('click', (event) => {
    if (event.isTrusted) document.querySelector('output').textContent++;
  });
</script>`;

test('a click is a person’s where that was asked for, once, and the debugger is gone after it', async ({
  sharedStage: stage,
  closing,
}) => {
  await visit(stage, `${await openDevSite(closing)}/plain`);
  const devtools = await stage.browser.newCDPSession(stage.page); // as DevTools, which stay attached
  await devtools.send('Runtime.enable');
  const agent = await openPage(stage, onlyTrusted);
  const ref = await agent.ref('button "Count"');
  await agent.do('click', { ref });
  expect(await stage.page.textContent('output')).toBe('0');
  const clicked = await agent.do('click', { ref, trusted: true });
  expect(clicked).toMatchObject({ trusted: true, changes: expect.stringContaining('1') });
  expect(await stage.page.textContent('output')).toBe('1');
  await expect.poll(() => isAttached(stage.browser), { timeout: 2000 }).toBe(false);
  expect(await devtools.send('Runtime.evaluate', { expression: '1 + 1' })).toMatchObject({
    result: { value: 2 },
  });

  const strict = `${await openDevSite(closing)}/strict`;
  await visit(stage, strict);
  const code = { code: '() => ({ title: document.title, sum: 1 + 1 })' };
  expect((await stage.agent.call('browser__evaluate', code)).value).toEqual({
    value: { title: 'Dev', sum: 2 },
  });
  const statements = { code: 'const n = 4; return n * 2;' };
  expect((await stage.agent.call('browser__evaluate', statements)).value).toEqual({ value: 8 });
  expect((await stage.agent.call('browser__evaluate', { code: 'nothing.here' })).code).toBe(
    'EVALUATION_FAILED',
  );
  const odd = `() => {
    const all = { big: 5n, map: new Map([['a', 1]]), get bad() { throw new Error('never'); }, list: [1, NaN] };
    all.self = all;
    return all;
  }`;
  expect((await stage.agent.call('browser__evaluate', { code: odd })).value).toEqual({
    value: { big: '5n', map: [['a', 1]], bad: '[threw Error: never]', list: [1, 'NaN'], self: '[circular]' },
  });
  const leaving = { code: "document.title = 'left'; location.href = '/plain'; await new Promise(() => {});" };
  const left = await stage.agent.call('browser__evaluate', leaving);
  expect([left.code, left.facts.outcome]).toEqual(['TAB_CHANGED', 'unknown']);
  await stage.page.waitForURL('**/plain'); // the answer comes as soon as the page leaves, not when the next is there
  await visit(stage, strict);

  const emulated = { viewport: { width: 400, height: 700 }, colorScheme: 'dark', reducedMotion: true };
  await stage.agent.call('browser__emulate', emulated);
  const looks = () =>
    stage.page.evaluate(() => [
      innerWidth,
      matchMedia('(prefers-color-scheme: dark)').matches,
      matchMedia('(prefers-reduced-motion: reduce)').matches,
    ]);
  await expect.poll(looks).toEqual([400, true, true]);
  await stage.agent.call('browser__emulate', { reset: true });
  await expect.poll(async () => (await looks())[0]).not.toBe(400);
  await expect.poll(() => isAttached(stage.browser), { timeout: 2000 }).toBe(false);

  const shape = z.array(
    z.object({ type: z.string(), uri: z.string().optional(), mimeType: z.string().optional() }),
  );
  const { content } = await stage.agent.client.callTool({ name: 'browser__pdf', arguments: {} });
  const made = shape.parse(content).find(({ type }) => type === 'resource_link');
  expect(made).toMatchObject({ mimeType: 'application/pdf' });
  const { contents } = await stage.agent.client.readResource({ uri: made?.uri ?? '' });
  const { blob } = z.object({ blob: z.string() }).parse(contents[0]);
  expect(Buffer.from(blob, 'base64').subarray(0, 5).toString()).toBe('%PDF-');
  expect(await stage.relay.tabrelay('status')).toContain("with Chrome's debugger");
});

test('a page that never answers, and a worker that is killed, leave nothing attached', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent, page } = stage;
  const strict = `${await openDevSite(closing)}/strict`;
  await visit(stage, strict);
  await page.evaluate(() => {
    setTimeout(() => {
      const until = Date.now() + 10_000; // longer than the call may take
      while (Date.now() < until);
    });
  });
  const busy = await agent.call('browser__evaluate', { code: "document.title = 'late'", timeoutMs: 1000 });
  expect([busy.failed, busy.facts.outcome === 'executed']).toEqual([true, false]);
  await expect.poll(() => isAttached(stage.browser), { timeout: 20_000 }).toBe(false);

  const width = () => page.evaluate(() => innerWidth);
  const usual = await width();
  await agent.call('browser__emulate', { viewport: { width: 400, height: 700 } });
  await expect.poll(width).toBe(400);
  const session = await stage.browser.newCDPSession(page);
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await expect
    .poll(async () => (await agent.call('browser__emulate', {})).said, { timeout: 30_000 })
    .toMatchObject({ emulating: false });
  await expect.poll(width).toBe(usual);
});

test('without it nothing is done, and the person is told how to get it', async ({ closing }) => {
  const stage = await openStage(closing, { config: { plugins } });
  await visit(stage, `${await openDevSite(closing)}/plain`);
  const agent = await openPage(stage, onlyTrusted);
  const ref = await agent.ref('button "Count"');
  for (const [tool, args] of [
    ['click', { ref, trusted: true }],
    ['pdf', {}],
    ['emulate', { offline: true }],
  ] as const) {
    const refused = await stage.agent.call(`browser__${tool}`, args);
    expect(refused.code, tool).toBe('NEEDS_TRUSTED_INPUT');
    expect(refused.texts.join(' ')).toContain('tabrelay up --trusted-input');
  }
});

for (const [what, put] of [
  ['another button', "document.getElementById('delete').style.zIndex = 2"],
  ['a frame', "document.querySelector('iframe').style.zIndex = 3"],
  ['another name', "document.getElementById('like').textContent = 'Delete my account'"],
] as const)
  test(`a page that puts ${what} under the pointer as it comes gets no trusted click for it`, async ({
    sharedStage: stage,
    closing,
  }) => {
    await visit(stage, `${await openDevSite(closing)}/plain`);
    const agent = await openPage(
      stage,
      `<!doctype html><title>Shop</title><style>button, iframe { position: absolute; left: 20px; top: 20px;
        width: 200px; height: 60px } #like { z-index: 1 }</style>
      <button id="like">Like</button><button id="delete">Delete my account</button>
      <iframe
        srcdoc="<button style='width:100%;height:100%' onclick='top.did += &quot; framed&quot;'>Pay</button>"></iframe>
      <script>
        window.did = '';
        for (const one of document.querySelectorAll('button')) one.onclick = () => (did += ' ' + one.textContent);
        addEventListener('mousemove', ({ isTrusted }) => { if (isTrusted) ${put}; });
      </script>`,
    );
    const failure = await agent.failure('click', { ref: await agent.ref('button "Like"'), trusted: true });
    expect(failure.code).toBe(what === 'another name' ? 'TARGET_CHANGED' : 'TARGET_COVERED');
    expect(failure.outcome).toBe('not_executed');
    expect(await stage.page.evaluate(() => Reflect.get(window, 'did'))).toBe('');
  });
