// What an act came to stays true when the worker or the relay is killed, or the page goes away in the middle of it; and
// nothing is done twice. What was done is counted by the page's server.
import { openActSite } from '../sites/acts.ts';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { expect, type Stage, test, visit } from '../stage/test.ts';

// Clicks a button that says to the server that it was clicked, and is busy for a moment.
async function openCounter(stage: Stage, url: string): Promise<string> {
  await visit(stage, `${url}/counter`);
  return new Acting(stage.agent).ref('button "Count"');
}

async function stopWorker({ browser, page }: Stage): Promise<void> {
  const session = await browser.newCDPSession(page);
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await session.detach();
}

test('a worker that is killed in the middle of an act does it no second time', async ({
  sharedStage: stage,
  closing,
}) => {
  const { url, counted } = await openActSite(closing);
  const ref = await openCounter(stage, url);
  for (let n = 1; n <= 5; n++) {
    const call = stage.agent.call('browser__click', { ref });
    await expect.poll(() => counted.get('click') ?? 0).toBe(n);
    await stopWorker(stage);
    const answer = await call;
    if (answer.failed) expect(answer.facts.outcome, answer.text).not.toBe('not_executed');
    expect(counted.get('click')).toBe(n);
  }
});

test('what is asked of frames before an act in words is never its answer', async ({
  sharedStage: stage,
  closing,
}) => {
  const { url, counted } = await openActSite(closing);
  await openCounter(stage, url);
  await stage.page.evaluate(() => {
    document.body.append(Object.assign(document.createElement('iframe'), { srcdoc: '<p>Inside</p>' }));
  });
  for (let n = 1; n <= 3; n++) {
    const call = stage.agent.call('browser__click', { ref: 'button "Count"' });
    await expect.poll(() => counted.get('click') ?? 0).toBe(n);
    await stopWorker(stage);
    const answer = await call;
    if (answer.failed) expect(answer.facts.outcome, answer.text).not.toBe('not_executed');
    else expect(answer.value, answer.text).toMatchObject({ outcome: 'executed' });
    expect(counted.get('click')).toBe(n);
  }
});

test('a relay that is killed in the middle of an act does it no second time', async ({ stage, closing }) => {
  stage.closing.defer(() => stage.relay.tabrelay('down'));
  const { url, counted } = await openActSite(closing);
  const ref = await openCounter(stage, url);
  const call = stage.agent.call('browser__click', { ref }).catch(() => undefined);
  await expect.poll(() => counted.get('click') ?? 0).toBe(1);
  const running = await stage.relay.announced();
  if (running === undefined) throw new Error('there is no relay to kill');
  process.kill(running.pid, 'SIGKILL');
  const answer = await call;
  if (answer?.failed) expect(answer.facts.outcome, answer.text).not.toBe('not_executed');
  expect(counted.get('click')).toBe(1);
});

for (const busyMs of [1300, 2500])
  test(`an act that a page was too busy for, ${busyMs} ms, is not told as undone and then done`, async ({
    sharedStage: stage,
    closing,
  }) => {
    const { url, counted } = await openActSite(closing);
    const ref = await openCounter(stage, url);
    await stage.page.evaluate((ms) => {
      setTimeout(() => {
        const until = performance.now() + ms;
        while (performance.now() < until);
        document.title = 'free';
      });
    }, busyMs);
    const answer = await stage.agent.call('browser__click', { ref }, { timeoutMs: 500 });
    await expect(stage.page).toHaveTitle('free');
    const again = await stage.agent.call('browser__find', { text: 'Count' }); // after whatever the page still did
    expect(again.failed, again.text).toBe(false);
    if (answer.failed) expect(answer.facts.outcome, answer.text).toBe('unknown');
    else expect(counted.get('click'), 'it came late to the page, which was free by then').toBe(1);
    const next = await stage.agent.call('browser__click', { ref });
    expect(next.value, next.text).toMatchObject({ outcome: 'executed' });
  });

test('a page that is too busy to say what came of an act keeps its tab busy only as long as it is', async ({
  sharedStage: stage,
  closing,
}) => {
  const page = `<title>Files</title><a href="empty">Download</a> <button>Next</button>
    <script>
      document.querySelector('a').addEventListener('click', () => setTimeout(() => {
        const until = performance.now() + 4000;
        while (performance.now() < until);
        document.title = 'free';
      }, 100));
    </script>`;
  const site = await openSite(closing, { page, empty: 204 });
  await visit(stage, `${site}/page`);
  const answer = await stage.agent.call('browser__click', { ref: 'link "Download"' }, { timeoutMs: 1500 });
  expect(answer.facts.outcome, answer.text).toBe('unknown');
  await expect(stage.page).toHaveTitle('free');
  await stage.agent.call('browser__find', { text: 'Next' }); // after whatever the page still did
  const next = await stage.agent.call('browser__click', { ref: 'button "Next"' });
  expect(next.value, next.text).toMatchObject({ outcome: 'executed' });
});

test('a worker that is killed while it leads a tab elsewhere does not do it again', async ({
  sharedStage: stage,
  closing,
}) => {
  const { url, counted } = await openActSite(closing);
  await openCounter(stage, url);
  const call = stage.agent.call('browser__navigate', { to: `${url}/count/load` }); // which never answers
  await expect.poll(() => counted.get('load') ?? 0).toBe(1);
  await stopWorker(stage);
  const answer = await call;
  if (answer.failed) expect(answer.facts.outcome, answer.text).toBe('unknown');
  expect(counted.get('load')).toBe(1);
});

test('a page that goes elsewhere in the middle of an act is told, and nothing is done twice', async ({
  sharedStage: stage,
  closing,
}) => {
  const { url, counted } = await openActSite(closing);
  const ref = await openCounter(stage, url);
  const call = stage.agent.call('browser__click', { ref });
  await expect.poll(() => counted.get('click') ?? 0).toBe(1);
  await stage.page.goto(`${url}/next`);
  const answer = await call;
  if (answer.failed) expect(answer.facts.outcome, answer.text).toBe('unknown');
  else expect(answer.value).toMatchObject({ outcome: 'executed' });
  expect(counted.get('click')).toBe(1);
  const gone = await new Acting(stage.agent).failure('click', { ref });
  expect(gone).toMatchObject({ code: 'DOCUMENT_CHANGED', outcome: 'not_executed' });
});

test('a page that is left before it was loaded is left all the same', async ({
  sharedStage: stage,
  closing,
}) => {
  const { url } = await openActSite(closing);
  const open = async () => {
    await stage.page.goto(`${url}/endless`, { waitUntil: 'domcontentloaded' });
    await expect.poll(() => stage.relay.tabs()).toContain(`${url}/endless`);
  };
  await open();
  const ref = await new Acting(stage.agent).ref('link "To the next page"');
  const clicked = await stage.agent.call('browser__click', { ref });
  expect(clicked.value).toMatchObject({ outcome: 'executed', url: `${url}/next` });
  await open();
  const navigated = await stage.agent.call('browser__navigate', { to: `${url}/next` });
  expect(navigated.value).toMatchObject({ url: `${url}/next`, status: 'complete' });
});

test('an answer that a page waits for is waited for, however late the worker hears of the request', async ({
  stage,
  closing,
}) => {
  const { url } = await openActSite(closing);
  await visit(stage, `${url}/asking`);
  const { agent, browser } = stage;
  const ref = await new Acting(agent).ref('button "Ask"');
  const worker = browser.serviceWorkers()[0] ?? (await browser.waitForEvent('serviceworker'));
  await worker.evaluate(() => {
    const beBusy = () => {
      const until = performance.now() + 80;
      while (performance.now() < until);
    };
    setInterval(beBusy, 81);
  });
  for (let n = 1; n <= 5; n++) {
    const answer = await agent.call('browser__click', { ref });
    expect(answer.value).toMatchObject({ changes: `~ "answered ${n}"` });
  }
});

test('a page that draws itself anew all the time: no act on a wrong element', async ({
  sharedStage: stage,
  closing,
}) => {
  const acts = Number(process.env.TABRELAY_ACTS ?? 100);
  test.setTimeout(180_000 + acts * 500);
  const { url } = await openActSite(closing);
  await visit(stage, `${url}/redrawn`);
  const page = await new Acting(stage.agent).look({ full: true, maxTokens: 20_000 });
  const refs = Array.from(page.matchAll(/button "Item (\d+)" \[(e\d+)\]/g), ([, item = '', ref = '']) => ({
    item,
    ref,
  }));
  expect(refs).toHaveLength(20);
  const rounds = acts / 20;
  let done = 0;
  for (let n = 0; n < rounds; n++) {
    const steps = refs.map(({ ref }) => ({ tool: 'click', ref }));
    const answer = await stage.agent.call('browser__act', { steps });
    expect(answer.failed, answer.text).toBe(false);
    const clicked = await stage.page.evaluate(() => Reflect.get(window, 'clicked').splice(0).join(' '));
    expect(clicked).toBe(refs.map(({ item }) => item).join(' '));
    done += refs.length;
  }
  expect(done).toBe(rounds * 20);
});
