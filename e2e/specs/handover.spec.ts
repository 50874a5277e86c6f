// An agent that cannot go on hands the page to the person, who does their part in it: the real page, panel, worker,
// relay and agent.

import { openSite } from '../sites/own-pages.ts';
import { allowNotifications, workerOf } from '../stage/notifications.ts';
import { badge, openPanel } from '../stage/side-panel.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

const signIn = `<title>Bank</title><h1>Sign in</h1>
  <form action="/account"><label>Password <input type="password"></label>
  <label>Code <input autocomplete="one-time-code"></label><button>Sign in</button></form>`;
const pages = { '': signIn, account: '<title>Bank</title><h1>Welcome back</h1><p>12.50 EUR</p>' };

/** The agent works at the bank, where nobody is signed in, and the person has the panel open. */
async function signedOut(stage: Stage) {
  const site = await openSite(stage.closing, pages);
  await visit(stage, `${site}/`);
  await stage.agent.call('browser__snapshot');
  const panel = await openPanel(stage.browser);
  return { site, panel, card: panel.getByRole('article', { name: /needs your hand/ }) };
}

test('the person signs in by hand; the agent gets the page, and nothing that they typed', async ({
  sharedStage: stage,
}) => {
  const { site, panel, card } = await signedOut(stage);
  const { agent, page } = stage;
  const answer = agent.call('relay__ask_person', {
    why: 'Please sign in to the bank',
    until: { text: 'Welcome back' },
  });
  for (const words of ['The agent says: “Please sign in to the bank”', site, 'the page says “Welcome back”'])
    await expect(card).toContainText(words);
  await expect(panel.getByRole('status')).toContainText('needs your hand: Please sign in');
  await card.getByRole('button', { name: 'Go to the tab' }).click();
  await page.getByLabel('Password').fill('my secret word');
  await page.getByLabel('Code').fill('918273');
  await page.getByRole('button', { name: 'Sign in' }).click();
  const { texts, failed, meta } = await answer;
  const text = texts.join('\n');
  expect(failed).toBe(false);
  expect(text).toContain('What was awaited came.');
  expect(text).toContain('"Welcome back"');
  expect(text).toContain('12.50 EUR');
  expect(meta['tabrelay/untrusted']).toBe(true);
  expect(text).not.toMatch(/my secret word|918273/);
  await expect(card).toHaveCount(0);
});

test('Done and Cannot end it, what stands in secret fields is not told, and another request waits', async ({
  sharedStage: stage,
}) => {
  const { card } = await signedOut(stage);
  const { agent, page } = stage;
  const first = agent.call('relay__ask_person', { why: 'Type the code' });
  await expect(card).toBeVisible();
  expect((await agent.call('relay__ask_person', { why: 'And this' })).code).toBe('OVERLOADED');
  await page.getByLabel('Password').fill('my secret word');
  await page.getByLabel('Code').fill('918273');
  await card.getByRole('button', { name: 'Done' }).click();
  const done = await first;
  expect(done.text).toContain('The person says that it is done.');
  expect(done.texts.join('\n')).toContain('"Password"');
  expect(done.texts.join('\n')).not.toMatch(/my secret word|918273/);
  const second = agent.call('relay__ask_person', { why: 'Solve the captcha' });
  await card.getByRole('button', { name: 'Cannot' }).click();
  const cannot = await second;
  expect(cannot.failed).toBe(false);
  expect(cannot.text).toContain('they cannot, or will not, do it');
  const late = await agent.call('relay__ask_person', { why: 'Once more', timeoutMs: 1000 });
  expect(late.code).toBe('APPROVAL_TIMEOUT');
  expect(late.facts).toMatchObject({ outcome: 'not_executed' });
  expect((await agent.call('relay__ask_person', { why: 'There', tabId: 4711 })).code).toBe('TAB_NOT_FOUND');
});

test('without a panel a notification and the icon tell of it; stopping everything ends it', async ({
  closing,
}) => {
  const stage = await openStage(closing, { beforeBrowser: allowNotifications });
  const { agent, browser } = stage;
  const notifications = async () => {
    const worker = await workerOf(browser);
    return Object.keys(await worker.evaluate(() => chrome.notifications.getAll()));
  };
  const answer = agent.call('relay__ask_person', { why: 'Which of the two?' });
  await expect.poll(notifications).toHaveLength(1);
  await expect.poll(() => badge(browser)).toBe('1');
  const panel = await openPanel(browser);
  await expect(panel.getByRole('article', { name: /needs your hand/ })).toContainText('Which of the two?');
  await panel
    .getByRole('button', { name: /Stop everything|Pause/ })
    .first()
    .click();
  expect((await answer).code).toBe('CANCELLED');
  await expect.poll(notifications).toHaveLength(0);
});
