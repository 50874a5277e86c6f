// A person answers questions in the side panel: the real page, worker, relay and agent.

import type { Page } from '@playwright/test';
import type { Answer } from '../stage/answer.ts';
import { openBrowser, stopWorker } from '../stage/browser.ts';
import { testPlugin } from '../stage/plugin.ts';
import { freePort } from '../stage/port.ts';
import { badge, missed, more, openPanel, questions } from '../stage/side-panel.ts';
import { expect, openStage, type Stage, test } from '../stage/test.ts';

const asking = { permissions: { demo: 'ask' } };

// One relay where every tool of the demo asks, and one browser, for all tests that need none of their own. Each has an
// agent, a tab and a counter to itself, and takes back what it allows for longer.
test.use({ groundOptions: { guarded: true, config: asking } });

const counter = () => `panel ${test.info().testId.slice(-8)}`;

const increment = ({ agent }: Stage): Promise<Answer> =>
  agent.call('demo__counter_increment', { name: counter(), by: 3 });

const counted = async ({ demo }: Stage): Promise<number> => (await demo.counter(counter())).value;

/** A stage of its own whose questions end after a time, and its panel. */
async function impatient(closing: Stage['closing'], timeoutMs: number): Promise<[Stage, Page]> {
  const config = { ...asking, approvals: { timeoutMs } };
  const stage = await openStage(closing, { guarded: true, config });
  return [stage, await openPanel(stage.browser)];
}

test('a question says who wants what where; Enter does nothing; allowing once runs it once', async ({
  sharedStage: stage,
}) => {
  const panel = await openPanel(stage.browser);
  const answer = increment(stage);
  const question = questions(panel);
  await expect(question).toBeVisible();
  for (const words of [
    'May stdio, which calls itself “e2e”, use “Raise counter” on',
    'Changes something',
    stage.demo.url,
    'panel',
    ' s left',
  ])
    await expect(question).toContainText(words);
  await expect(question).toBeFocused();
  await expect(panel.getByRole('status')).toContainText('Question: stdio');
  await expect(question.getByRole('button', { name: 'Allow once' })).toBeEnabled();
  await panel.keyboard.press('Enter');
  await panel.keyboard.press('Space');
  expect(await counted(stage)).toBe(0);
  await question.getByRole('button', { name: 'Details' }).click();
  await expect(question).toContainText('Raise counter (demo__counter_increment) of Demo site');
  await question.getByRole('button', { name: 'Allow once' }).click();
  expect((await answer).failed).toBe(false);
  expect(await counted(stage)).toBe(3);
  await expect(panel.getByText(/^Allowed once\. stdio/).first()).toBeVisible();
  await expect(question).toHaveCount(0);

  const again = increment(stage);
  await expect(question).toBeVisible();
  await question.getByRole('button', { name: 'Deny' }).click();
  expect((await again).code).toBe('APPROVAL_DENIED');
  expect(await counted(stage)).toBe(3);
});

test('what is allowed for the session is not asked again, until it is taken back', async ({
  sharedStage: stage,
}) => {
  const panel = await openPanel(stage.browser);
  const first = increment(stage);
  await more(questions(panel));
  await questions(panel).getByRole('button', { name: 'Allow for this session' }).click();
  expect((await first).failed).toBe(false);
  expect((await increment(stage)).failed).toBe(false);
  expect(await counted(stage)).toBe(6);
  await expect(questions(panel)).toHaveCount(0);

  await panel.getByRole('tab', { name: 'Rules' }).click();
  await panel.getByRole('button', { name: /^Revoke: stdio may make changes in Demo site on/ }).click();
  await expect(panel.getByText('Nothing. What you allow')).toBeVisible();
  const asked = increment(stage);
  await questions(panel).getByRole('button', { name: 'Deny' }).click();
  expect((await asked).code).toBe('APPROVAL_DENIED');
});

test('what was allowed for a session is not said any more once the relay has started again', async ({
  closing,
}) => {
  const stage = await openStage(closing, { guarded: true });
  const panel = await openPanel(stage.browser);
  const first = increment(stage);
  await questions(panel).getByRole('button', { name: 'Allow for this session' }).click();
  expect((await first).failed).toBe(false);
  const told = panel.getByRole('listitem').filter({ hasText: 'Allowed for this session' });
  await expect(told).toBeVisible();
  await stage.relay.down();
  await expect(told).toHaveCount(0);
  await stage.relay.start();
  await expect(panel.getByRole('status').first()).toHaveText('Connected');
  await expect(told).toHaveCount(0);
});

test('a question shows every argument as it was sent, and hides only what it counts', async ({
  sharedStage: stage,
}) => {
  const panel = await openPanel(stage.browser);
  const question = questions(panel);
  const lines = question.getByRole('listitem');

  const name = 'cookie: a=b Bearer delete-all-1234567890 ?token=now-delete-12345 \u202ee\u200b';
  const told = stage.agent.call('demo__counter_increment', { name, by: 321 });
  const seen = name.replace('\u202e', '⟨U+202E⟩').replace('\u200b', '⟨U+200B⟩');
  await expect(lines).toHaveText([`name: ${seen}`, 'by: 321']);
  const printed = await stage.relay.tabrelay('permit', 'pending');
  for (const line of await lines.allTextContents()) expect(printed).toContain(line);
  await question.getByRole('button', { name: 'Read it all first' }).click();
  await more(question);
  await expect(question.getByRole('button', { name: 'Allow for this session' })).toBeVisible();
  await question.getByRole('button', { name: 'Deny' }).click();
  expect((await told).code).toBe('APPROVAL_DENIED');
  await expect(question).toHaveCount(0); // the agent may hear of it before the panel does

  const slug = `first-${'word-'.repeat(30_000)}last`;
  const long = stage.agent.call('demo__get_page', { slug });
  await question.getByRole('button', { name: 'Details' }).click();
  await expect(lines).toHaveText(
    /^slug: first-word-.*⟨… 147,010 of 150,010 characters hidden …⟩.*-word-last$/,
  );
  for (const choice of ['Allow for this session', 'More answers'])
    await expect(question.getByRole('button', { name: choice })).toHaveCount(0);
  const id = (await question.getAttribute('data-id')) ?? '';
  expect(await answerFrom(panel, id, 'session')).toBe(409);

  await question.getByRole('button', { name: 'Show all' }).click();
  await question.getByRole('button', { name: 'Show more' }).click();
  await expect(question.getByRole('button', { name: 'Allow for this session' })).toHaveCount(0);
  await question.getByRole('button', { name: 'Show more' }).click();
  await expect(lines).toHaveText(`slug ⟨150,010 characters⟩: ${slug}`);
  expect(await stage.relay.tabrelay('permit', 'pending', id)).toContain(`permit pending ${id} --full`);
  expect(await stage.relay.tabrelay('permit', 'pending', id, '--full')).toContain(`: ${slug}\n`);
  // All of it is there, and none of it was read.
  await expect(question.getByRole('button', { name: 'Allow for this session' })).toHaveCount(0);
  await question.getByRole('button', { name: 'Read it all first' }).click();
  await expect(question.getByRole('button', { name: 'Read it all first' })).toBeVisible();
  await question.locator('.end').evaluate((end) => end.scrollIntoView());
  await question.getByRole('button', { name: 'Allow for this session' }).click();
  expect((await long).code).not.toBe('APPROVAL_DENIED');
  expect((await stage.agent.call('demo__get_page', { slug: 'tea' })).failed).toBe(false);
});

test('a secret field is opened by a click, and until then the call is only allowed once', async ({
  closing,
}) => {
  const demo = `127.0.0.1:${await freePort()}`;
  const stage = await openStage(closing, {
    guarded: true,
    demo: `http://${demo}`,
    config: { permissions: { leaky: 'ask' }, review: { required: false } },
    async beforeBrowser(relay) {
      await relay.tabrelay('plugin', 'add', await testPlugin('leaky', `http://${demo}`, closing));
    },
  });
  const panel = await openPanel(stage.browser);
  const question = questions(panel);
  const told = stage.agent.call('leaky__take_secret', { password: 'hunter2' });
  await expect(question.getByRole('listitem')).toHaveText(
    'password: •••• ⟨7 characters hidden: secret field⟩',
  );
  for (const choice of ['Allow for this session', 'More answers'])
    await expect(question.getByRole('button', { name: choice })).toHaveCount(0);
  const id = (await question.getAttribute('data-id')) ?? '';
  expect(await answerFrom(panel, id, 'session')).toBe(409);
  const printed = await stage.relay.tabrelay('permit', 'pending');
  expect(printed).toContain(`permit pending ${id} --secrets`);
  expect(printed).not.toContain('hunter2');
  expect(await stage.relay.tabrelay('permit', 'pending', id, '--full')).not.toContain('hunter2');
  expect(await stage.relay.tabrelay('permit', 'pending', id, '--secrets')).toContain('password: hunter2');
  await expect(question.getByRole('button', { name: 'Allow for this session' })).toHaveCount(0);

  await question.getByRole('button', { name: 'Details' }).click();
  await question.getByRole('button', { name: 'Show secret fields' }).click();
  await expect(question.getByRole('listitem')).toHaveText('password: hunter2');
  await more(question);
  await question.getByRole('button', { name: 'Allow for this session' }).click();
  expect((await told).code).toBe('AUTH_ERROR');
  expect((await stage.agent.call('leaky__take_secret', { password: 'other' })).code).toBe('AUTH_ERROR');
});

test('what is always allowed is a rule, which can be removed', async ({ sharedStage: stage }) => {
  const panel = await openPanel(stage.browser);
  const first = increment(stage);
  await more(questions(panel));
  await questions(panel)
    .getByRole('button', { name: /^Always allow “Raise counter” on http:/ })
    .click();
  expect((await first).failed).toBe(false);
  expect((await increment(stage)).failed).toBe(false);
  await panel.getByRole('tab', { name: 'Rules' }).click();
  await panel.getByRole('button', { name: /^Remove the rule for demo__counter_increment/ }).click();
  await panel.getByRole('group').getByRole('button', { name: 'Remove' }).click();
  await expect.poll(() => stage.relay.tabrelay('permit')).not.toContain('demo__counter_increment');
  await expect(questions(panel)).toHaveCount(0);
  const asked = increment(stage);
  await questions(panel).getByRole('button', { name: 'Deny' }).click();
  expect((await asked).failed).toBe(true);
  expect(await counted(stage)).toBe(6);
});

test('a question nobody answers can be allowed for the next time: this call, once', async ({ closing }) => {
  const [stage, panel] = await impatient(closing, 5_000);
  const late = await increment(stage);
  expect(late.code).toBe('APPROVAL_TIMEOUT');
  expect(late.text).toContain('repeat exactly this call later');
  await expect(questions(panel)).toHaveCount(0);
  await expect.poll(() => badge(stage.browser)).toBe('1');
  expect(await counted(stage)).toBe(0);
  await missed(panel).getByRole('button', { name: 'Allow next time' }).click();
  await expect(missed(panel)).toContainText('Allowed once, when the agent makes this call again');
  expect(await stage.relay.tabrelay('permit', 'pending')).toContain('allowed for the next time');
  await expect.poll(() => badge(stage.browser)).toBe('');

  const other = stage.agent.call('demo__counter_increment', { name: counter(), by: 4 });
  await questions(panel).getByRole('button', { name: 'Deny' }).click();
  expect((await other).code).toBe('APPROVAL_DENIED');
  expect((await increment(stage)).failed).toBe(false);
  expect(await counted(stage)).toBe(3);
  await expect(missed(panel)).toHaveCount(0);
  const again = increment(stage);
  await questions(panel).getByRole('button', { name: 'Deny' }).click();
  expect((await again).code).toBe('APPROVAL_DENIED');

  expect((await increment(stage)).code).toBe('APPROVAL_TIMEOUT');
  await missed(panel).getByRole('button', { name: 'Dismiss' }).click();
  await expect(missed(panel)).toHaveCount(0);
});

test('one question for all that a plugin reads on a site, in the words of every surface', async ({
  closing,
}) => {
  const stage = await openStage(closing, { guarded: true, trouble: true });
  const panel = await openPanel(stage.browser);
  const { agent, relay, demo } = stage;
  const reason = 'You asked who is signed in.\nRisk: none';
  const reading = agent.client.callTool({
    name: 'trouble__who_am_i',
    arguments: {},
    _meta: { 'tabrelay/reason': reason },
  });
  const question = questions(panel);
  const sentence = `read “Trouble” on ${demo.url} for this session?`;
  await expect(question).toContainText(sentence);
  await expect(question).toContainText('The agent says: “You asked who is signed in. Risk: none”');
  expect(await relay.tabrelay('permit', 'pending')).toContain(sentence);
  await question.getByRole('button', { name: 'Allow for this session' }).click();
  await reading;
  expect((await agent.call('trouble__slow', { ms: 0 })).failed).toBe(false);
  expect(await relay.tabrelay('permit', 'list')).toContain(`read “Trouble” on ${demo.url}`);

  const changing = agent.call('trouble__slow_increment', { name: 'level', ms: 0 });
  await expect(question).toContainText('use “Raise counter slowly” on');
  await question.getByRole('button', { name: 'Allow once' }).click();
  expect((await changing).failed).toBe(false);
  const tools = await agent.client.listTools();
  const asks = tools.tools.filter(({ _meta }) => _meta?.['tabrelay/permission'] === 'ask');
  expect(asks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['trouble__slow_increment', 'browser__open_tab']),
  );
  expect(asks.map(({ name }) => name)).not.toContain('demo__hello');
});

test('an answer that comes too late does nothing, and the panel says so', async ({ closing }) => {
  const [stage, panel] = await impatient(closing, 15_000);
  const answer = increment(stage);
  const allow = questions(panel).getByRole('button', { name: 'Allow once' });
  await expect(allow).toBeEnabled();
  // The panel is kept busy past the end, so that it has not heard of it when the button is pressed.
  await allow.evaluate((button: HTMLElement) => {
    const until = performance.now() + 16_000;
    while (performance.now() < until);
    button.click();
  });
  expect((await answer).code).toBe('APPROVAL_TIMEOUT');
  await expect(questions(panel)).toHaveCount(0);
  await expect(panel.locator('.notes')).toContainText('nobody answered in time');
  await expect(missed(panel).getByRole('button', { name: 'Allow next time' })).toBeVisible();
  await expect(panel.locator('.notes')).not.toContainText('Allowed');
  expect(await counted(stage)).toBe(0);
});

test('while the panel is closed the icon counts the questions; opened, it asks them', async ({
  sharedStage: stage,
}) => {
  const answer = increment(stage);
  await expect.poll(() => badge(stage.browser)).toBe('1');
  const panel = await openPanel(stage.browser, 'plugins');
  const allow = questions(panel).getByRole('button', { name: 'Allow once' });
  await allow.focus();
  await expect(allow).toBeEnabled();
  await panel.keyboard.press('Enter');
  expect((await answer).failed).toBe(false);
  await expect.poll(() => badge(stage.browser)).toBe('');
});

test('only the profile that has the tab is asked', async ({ closing }) => {
  const stage = await openStage(closing, { guarded: true, config: asking });
  const panel = await openPanel(stage.browser);
  const other = await openPanel(await openBrowser(stage.relay, closing));
  await expect.poll(() => stage.relay.browsers()).toBe(2);
  await expect(other.getByRole('heading', { name: 'Connected' })).toBeVisible();
  const answer = increment(stage);
  await expect(questions(panel)).toBeVisible();
  const id = await questions(panel).getAttribute('data-id');
  await expect(other.getByText('Waiting for an answer in its profile')).toBeVisible();
  await expect(panel.getByText('Waiting for you')).toBeVisible();
  await expect(questions(other)).toHaveCount(0);
  expect(await answerFrom(other, id ?? '')).toBeGreaterThanOrEqual(400);
  expect(await counted(stage)).toBe(0);
  await questions(panel).getByRole('button', { name: 'Allow once' }).click();
  expect((await answer).failed).toBe(false);
  expect(await counted(stage)).toBe(3);
});

test('a question outlives the worker', async ({ sharedStage: stage }) => {
  const panel = await openPanel(stage.browser);
  const answer = increment(stage);
  await expect(questions(panel)).toBeVisible();
  await watchLine(panel);
  await stopWorker(stage.browser);
  await panel.evaluate(() => Reflect.get(globalThis, 'lineStands'));
  await questions(panel).getByRole('button', { name: 'Allow once' }).click();
  expect((await answer).failed).toBe(false);
  expect(await counted(stage)).toBe(3);
});

test('a question ends when its tab is closed', async ({ sharedStage: stage }) => {
  const panel = await openPanel(stage.browser);
  const answer = increment(stage);
  await expect(questions(panel)).toBeVisible();
  await stage.page.close();
  expect((await answer).block).toMatchObject({ code: 'TAB_NOT_FOUND', outcome: 'not_executed' });
  await expect(questions(panel)).toHaveCount(0);
});

test('a new question leaves whoever writes alone', async ({ sharedStage: stage }) => {
  const panel = await openPanel(stage.browser);
  await panel.getByRole('tab', { name: 'Plugins' }).click();
  const search = panel.getByRole('searchbox');
  await search.fill('dem');
  const answer = increment(stage);
  await expect(questions(panel)).toBeVisible();
  await expect(search).toBeFocused();
  await panel.keyboard.type('o');
  await panel.keyboard.press('Enter');
  await expect(search).toHaveValue('demo');
  await questions(panel).getByRole('button', { name: 'Deny' }).click();
  expect((await answer).code).toBe('APPROVAL_DENIED');
});

test('stopping everything cancels what runs and refuses what comes, until the person resumes', async ({
  sharedStage: stage,
}) => {
  const panel = await openPanel(stage.browser);
  const asked = increment(stage);
  await expect(questions(panel)).toBeVisible();
  const stop = panel.getByRole('button', { name: 'Stop everything' });
  const resume = panel.getByRole('button', { name: 'Resume' });
  await stop.press('Enter');
  await expect(resume).toBeFocused();
  await expect(panel.getByRole('heading', { name: 'Paused' })).toBeVisible();
  await expect(stop).toHaveCount(0);
  expect((await asked).failed).toBe(true);
  await expect(panel.locator('.notes')).toContainText('agents were paused, so it was refused');
  expect((await increment(stage)).failed).toBe(true);
  await expect(questions(panel)).toHaveCount(0);
  await expect.poll(() => badge(stage.browser)).toBe('II');
  await resume.press('Enter');
  await expect(stop).toBeFocused();
  await expect.poll(() => badge(stage.browser)).toBe('');
  const after = increment(stage);
  await questions(panel).getByRole('button', { name: 'Allow once' }).click();
  expect((await after).failed).toBe(false);
  expect(await counted(stage)).toBe(3);
});

/** From here on `lineStands` resolves when the panel has another port, to a worker that is connected. */
async function watchLine(panel: Page): Promise<void> {
  await panel.evaluate(() => {
    const { connect } = chrome.runtime;
    const lineStands = new Promise<void>((resolve) => {
      const watched = (info: chrome.runtime.ConnectInfo) => {
        const port = connect(info);
        port.onMessage.addListener((message: { link?: { phase: string } }) => {
          if (message.link?.phase === 'connected') resolve();
        });
        return port;
      };
      Object.assign(chrome.runtime, { connect: watched });
    });
    Object.assign(globalThis, { lineStands });
  });
}

/** Answers a question from a panel that was not asked, over a port as its own script has; resolves with the status. */
function answerFrom(panel: Page, id: string, lasts = 'once'): Promise<number> {
  return panel.evaluate(
    ([asked, span]) =>
      new Promise<number>((resolve) => {
        const port = chrome.runtime.connect({ name: 'panel' });
        port.onMessage.addListener((message: { type?: string; status?: number }) => {
          if (message.type === 'response') resolve(message.status ?? 0);
        });
        const body = { answer: 'allow', for: span };
        port.postMessage({
          type: 'request',
          id: '1',
          method: 'POST',
          path: `/api/v1/approvals/${asked}`,
          body,
        });
      }),
    [id, lasts] as const,
  );
}
