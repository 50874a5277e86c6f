// Pages that fake the end of a request for the person's hand, and a person who leaves.
import { openSite } from '../sites/own-pages.ts';
import { openPanel } from '../stage/side-panel.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

const words = 'Welcome back';

/** Everything of a page that has words without displaying them. */
const unseen = `<title>${words}</title><meta name="description" content="${words}"><h1>Sign in</h1><!-- ${words} -->
  <p hidden>${words}</p><p style="display: none">${words}</p><p style="visibility: hidden">${words}</p>
  <template><p>${words}</p></template><script type="text/plain">${words}</script><style>/* ${words} */</style>
  <input type="hidden" value="${words}"><button style="display: none" aria-label="${words}"></button>
  <p data-said="${words}">Nobody is signed in</p><details><summary>More</summary>${words}</details>`;

async function asked(stage: Stage, page: string) {
  const site = await openSite(stage.closing, {
    '': page,
    login: page,
    account: `<title>Bank</title><h1>${words}</h1>`,
  });
  await visit(stage, `${site}/login?next=/account`);
  await stage.agent.call('browser__snapshot');
  const panel = await openPanel(stage.browser);
  return { site, panel, card: panel.getByRole('article', { name: /needs your hand/ }) };
}

test('words that are not displayed, and those of another tab, are not what is awaited', async ({
  sharedStage: stage,
}) => {
  const { site, card } = await asked(stage, unseen);
  const { agent, browser } = stage;
  const other = await browser.newPage();
  await other.goto(`${site}/account`);
  const answer = agent.call('relay__ask_person', { why: 'Sign in', until: { text: words } });
  await expect(card).toContainText(`the page says “${words}”`);
  await other.reload();
  await other.close();
  await stage.page.evaluate((said) => {
    document.title = `${said}!`;
  }, words);
  await card.getByRole('button', { name: 'Done' }).click();
  expect((await answer).text).toContain('The person says that it is done.');
});

test('an address is awaited where it means something', async ({ sharedStage: stage }) => {
  const { site, card } = await asked(stage, '<title>Bank</title><h1>Sign in</h1>');
  const { agent, page } = stage;
  const answer = agent.call('relay__ask_person', { why: 'Sign in', until: { url: '/account' } });
  await expect(card).toContainText('its address has “/account”');
  await page.evaluate(() => {
    location.hash = '/account';
  });
  await visit(stage, `${site.replace('127.0.0.1', 'localhost')}/login?bank=${site}/account`);
  await expect(card).toBeVisible();
  await visit(stage, `${site}/account`);
  expect((await answer).text).toContain('What was awaited came.');
  const host = new URL(site).host;
  const second = agent.call('relay__ask_person', { why: 'Again', until: { url: `${host}/other` } });
  await expect(card).toContainText('Again');
  await visit(stage, `${site.replace('127.0.0.1', 'localhost')}/login?to=${host}/other#${host}/other`);
  await card.getByRole('button', { name: 'Cannot' }).click();
  expect((await second).text).toContain('they cannot, or will not, do it');
});

test('a page cannot press Done', async ({ sharedStage: stage }) => {
  const { card } = await asked(
    stage,
    `<title>Bank</title><h1>Sign in</h1><article aria-label="agent needs your hand"><button>Done</button></article>`,
  );
  const { agent, page, relay, browser } = stage;
  const answer = agent.call('relay__ask_person', { why: 'Sign in', until: { text: words } });
  await expect(card).toBeVisible();
  const id = await card.getAttribute('aria-labelledby');
  const extension = new URL(browser.serviceWorkers()[0]?.url() ?? 'chrome-extension://none').host;
  const statuses = await page.evaluate(
    async ({ relayUrl, request, extensionId }) => {
      const body = JSON.stringify({ answer: 'done' });
      const path = `${relayUrl}/api/v1/handovers/${request}`;
      const tries = [
        fetch(path, { method: 'POST', body }),
        fetch(path, { method: 'POST', body, mode: 'no-cors', credentials: 'include' }),
        fetch(`${relayUrl}/api/v1/handovers`, { mode: 'no-cors' }),
        fetch(`chrome-extension://${extensionId}/panel.html`),
      ];
      navigator.sendBeacon(path, body);
      for (const message of [
        body,
        { answer: 'done', id: request },
        { type: 'handovers', id: request, answer: 'done' },
      ]) {
        window.postMessage(message, '*');
        document.dispatchEvent(new CustomEvent('tabrelay', { detail: message }));
      }
      const runtime = globalThis.chrome?.runtime;
      for (const name of ['sendMessage', 'connect']) {
        try {
          Reflect.get(runtime, name).call(runtime, extensionId, { answer: 'done', id: request });
        } catch {}
      }
      for (const button of document.querySelectorAll('button')) button.click();
      const done = await Promise.allSettled(tries);
      return done.map((one) => (one.status === 'fulfilled' ? one.value.status : 'refused'));
    },
    { relayUrl: await relay.url(''), request: id?.replace('handover-', '') ?? '', extensionId: extension },
  );
  expect(statuses).not.toContain(200);
  await expect(card).toBeVisible();
  await card.getByRole('button', { name: 'Cannot' }).click();
  expect((await answer).text).toContain('they cannot, or will not, do it');
});

test('a frame of another site that shows the words ends it early, and allows nothing', async ({
  sharedStage: stage,
  closing,
}) => {
  const advert = await openSite(closing, { '': '<p>Buy more</p>', shown: `<p>${words}</p>` });
  const other = advert.replace('127.0.0.1', 'localhost');
  const { card } = await asked(stage, `<title>Bank</title><h1>Sign in</h1><iframe src="${other}/"></iframe>`);
  const { agent, page } = stage;
  const answer = agent.call('relay__ask_person', { why: 'Sign in', until: { text: words } });
  await expect(card).toBeVisible();
  await page.frames()[1]?.goto(`${other}/shown`);
  const look = (await answer).texts.join('\n');
  expect(look).toContain('What was awaited came.');
  await expect(card).toHaveCount(0);
});

test('a panel that is closed ends nothing; a browser that is closed ends it, and nothing was done', async ({
  closing,
}) => {
  const stage = await openStage(closing);
  const { panel, card } = await asked(stage, '<title>Bank</title><h1>Sign in</h1>');
  const answer = stage.agent.call('relay__ask_person', { why: 'Sign in', until: { text: words } });
  await expect(card).toBeVisible();
  await panel.close();
  const again = await openPanel(stage.browser);
  await expect(again.getByRole('article', { name: /needs your hand/ })).toContainText('Sign in');
  await stage.browser.close();
  const { text } = await answer;
  expect(text).toMatch(/The tab was closed\.|Nobody did what the person was asked for/);
});
