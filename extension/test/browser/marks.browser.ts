// What a person sees of an agent while no panel is open: the mark on a tab, the number on the icon, the notification.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from './patience.ts';
import { type Stage, setStage } from './stage.ts';

let stage: Stage;
before(async () => {
  stage = await setStage(
    (request, response) => {
      response.setHeader('content-type', 'text/html');
      response.setHeader(
        'content-security-policy',
        "default-src 'none'; style-src 'unsafe-inline'; connect-src 'self'",
      );
      response.end(
        `<!doctype html><title>${request.url}</title><style>div { display: none !important }</style><p>words</p><input autofocus>`,
      );
    },
    { permissions: ['notifications'] },
  );
});
after(() => stage?.close());

const acting = { client: 'claude-code', title: 'Place an\u202e order' };

// The mark's element, and what the page can learn of it.
const marks = (page: Page) =>
  page.evaluate(() =>
    [...document.documentElement.children]
      .filter((element) => !['HEAD', 'BODY'].includes(element.tagName))
      .map((element) => {
        const { position, pointerEvents, display } = getComputedStyle(element);
        const { width, height, right, bottom } = element.getBoundingClientRect();
        const inside = innerWidth - right >= 0 && innerHeight - bottom >= 0 && width > 40 && height > 10;
        const hidden = element.getAttribute('aria-hidden');
        const hit = document.elementFromPoint(right - width / 2, bottom - height / 2) === element;
        const text = element.textContent;
        const root = element.shadowRoot;
        return { position, pointerEvents, display, inside, hidden, hit, text, root };
      }),
  );

const badge = async (tabId?: number): Promise<string> =>
  (await stage.worker()).evaluate(
    (id) => chrome.action.getBadgeText(id === undefined ? {} : { tabId: id }),
    tabId,
  );

for (const world of ['iso', 'main']) {
  test(`${world}: a tab is marked while a tool runs in it, and a little longer`, async () => {
    const { page, tabId } = await stage.open(`/acting/${world}`);
    await page.locator('input').focus();
    await page.evaluate(() => {
      for (const type of ['focusin', 'blur', 'scroll', 'resize'])
        addEventListener(type, () => document.body.setAttribute('data-moved', type), true);
      // When the mark came and went, in the page's own time: what this test hears of it comes late on a busy machine.
      const times: number[] = [];
      new MutationObserver(() => times.push(performance.now())).observe(document.documentElement, {
        childList: true,
      });
      Object.assign(globalThis, { times });
    });
    const call = stage.call(tabId, `${world}.sleep`, { ms: 2500, path: `/held/${world}` }, acting);
    await call.started;
    await until(async () => (await marks(page)).length === 1, 'no mark');
    assert.deepEqual(await marks(page), [
      {
        position: 'fixed',
        pointerEvents: 'none',
        display: 'block',
        inside: true,
        hidden: 'true',
        hit: false,
        text: '',
        root: null,
      },
    ]);
    await until(async () => (await badge(tabId)) === '●', 'no badge on the tab');
    assert.equal(await badge(), '');
    await until(async () => stage.hits.has(`/held/${world}`), 'the tool did not begin');
    stage.release(); // until here the call lasts, however long this test takes to look
    if (process.env.TABRELAY_SCREENSHOTS)
      await page.screenshot({ path: `${process.env.TABRELAY_SCREENSHOTS}/mark.png` });
    await call.outcome;
    await until(async () => (await marks(page)).length === 0, 'the mark stays');
    const [came = 0, went = 0] = await page.evaluate<number[]>(() => Reflect.get(globalThis, 'times'));
    assert.ok(went - came > 2500 + 1000, 'it goes 1.5 s after the call');
    await until(async () => (await badge(tabId)) === '', 'the badge stays');
    assert.deepEqual(
      await page.evaluate(() => [document.activeElement?.tagName, document.body.dataset.moved]),
      ['INPUT', undefined],
    );
    await page.close();
  });
}

// Asks as the relay does, and gives the payload of the reply.
async function command(name: string, params: object): Promise<string> {
  const id = Math.random().toString(16).slice(2).padEnd(32, '0').slice(0, 32);
  const from = stage.relay.got.length;
  stage.relay.send({ type: 'command', id, name, params });
  return (await stage.relay.wait((frame) => frame.type === 'reply' && frame.id === id, from)).payload;
}

test('readers of the page do not see the mark, and it is no change of the page', async () => {
  const { page, tabId } = await stage.open('/read');
  const read = (kind: string) => command('tabs.read', { tabId, kind, from: 0, max: 10_000 });
  const before = { text: await read('text'), html: await read('html') };
  const first: { mark: string } = JSON.parse(await command('tabs.watch', { tabId, kind: 'html', mark: '' }));
  const call = stage.call(tabId, 'iso.sleep', { ms: 2500 }, acting);
  await until(async () => (await marks(page)).length === 1, 'no mark');
  assert.deepEqual({ text: await read('text'), html: await read('html') }, before);
  await call.outcome;
  const changed = command('tabs.watch', { tabId, kind: 'html', mark: first.mark });
  await page.evaluate(() => document.body.append('more'));
  const next: { mark: string } = JSON.parse(await changed);
  const count = (mark: string) => Number(mark.split('.')[1]);
  assert.equal(count(next.mark), count(first.mark) + 1, 'only the change of the page counts');
  await page.close();
});

test('the person switches marks off', async () => {
  const { page, tabId } = await stage.open('/off');
  const panel = await stage.openPanel();
  const set = (on: boolean) =>
    panel.evaluate(
      (wanted) => chrome.runtime.connect({ name: 'panel' }).postMessage({ type: 'marks', on: wanted }),
      on,
    );
  await set(false);
  await until(
    async () =>
      (await (await stage.worker()).evaluate(() => chrome.storage.local.get('marks'))).marks === false,
    'not switched',
  );
  await stage.call(tabId, 'iso.sleep', { ms: 300 }, acting).outcome;
  assert.equal((await marks(page)).length, 0);
  assert.equal(await badge(tabId), '');
  await set(true);
  await panel.close();
  await page.close();
});

const questions = [
  {
    id: 'q1',
    client: 'claude\u202e-code\n',
    title: `Place ${'very '.repeat(60)}order`,
    origin: 'https://shop.example',
    risk: 'changes',
  },
];

test('questions show on the icon, and as a notification while no panel is open', async () => {
  const { tabId, page } = await stage.open('/asked');
  const notes = async () => (await stage.worker()).evaluate(() => chrome.notifications.getAll());
  const shown = async () => Object.keys(await notes()).length;
  const from = stage.relay.got.length;
  stage.relay.send({ type: 'news', topics: ['approvals'], waiting: 1 });
  const { frame } = await stage.relay.wait(({ path }) => path === '/api/v1/approvals', from);
  stage.relay.send({ type: 'response', id: frame.id, status: 200 }, JSON.stringify({ approvals: questions }));
  await until(async () => (await badge()) === '1', 'no number');
  await until(async () => (await shown()) === 1, 'no notification');
  assert.equal(
    await (await stage.worker()).evaluate(() => chrome.action.getTitle({})),
    'tabrelay: 1 question waits for you',
  );

  // The number matters more than who acts.
  const call = stage.call(tabId, 'iso.sleep', { ms: 300 }, acting);
  await call.started;
  await call.outcome;
  assert.equal(await badge(tabId), '1');

  const panel = await stage.openPanel();
  await until(async () => (await shown()) === 0, 'the notification stays though a panel is open');
  assert.equal(await badge(), '1');
  stage.relay.send({ type: 'news', topics: ['approvals'], waiting: 0 });
  await until(async () => (await badge()) === '', 'the number stays');
  await panel.close();
  await page.close();
});

// Playwright has no hand in the system's notifications, so the event is sent as Chrome sends it, but without the
// gesture that a click is: the panel opens in a window of its own then.
test('a click on the notification opens the panel', async () => {
  const opened = stage.browser.waitForEvent('page');
  await (await stage.worker()).evaluate(() => {
    Reflect.get(chrome.notifications.onClicked, 'dispatch').call(chrome.notifications.onClicked, 'questions');
  });
  const panel = await opened;
  await panel.waitForURL(/panel\.html$/);
  await panel.close();
});

test('a click on the icon opens the side panel', async () => {
  const behavior = await (await stage.worker()).evaluate(() => chrome.sidePanel.getPanelBehavior());
  assert.equal(behavior.openPanelOnActionClick, true);
});
