// The panel by keyboard alone, and for who listens to it. The worker is a script: lists have to change at given
// moments.

import type { Page } from '@playwright/test';
import { type Canvas, change, drawing, type Look } from '../stage/drawn-panel.ts';
import * as data from '../stage/panel-data.ts';
import { states } from '../stage/panel-states.ts';
import { expect } from '../stage/test.ts';

async function drawn(
  name: string,
  canvas: Canvas,
  look: Look = { width: 320, scheme: 'light' },
): Promise<Page> {
  const state = states.find((one) => one.name === name);
  if (state === undefined) throw new Error(`there is no state ${name}`);
  await canvas.draw(state.script, look, state.hash);
  return canvas.page;
}

drawing('arrow keys move through the pages, and Tab goes into the open one', async ({ canvas }) => {
  const page = await drawn('now', canvas);
  await page.getByRole('tab', { name: 'Now' }).focus();
  for (const name of ['Plugins', 'Rules', 'Clients', 'Log', 'Now']) {
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('tab', { name })).toBeFocused();
    await expect(page.getByRole('tab', { name })).toHaveAttribute('aria-selected', 'true');
  }
  // The second key comes before the page of the first one can open.
  await page.evaluate(() => {
    const press = () => new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true });
    document.activeElement?.dispatchEvent(press());
    document.activeElement?.dispatchEvent(press());
  });
  await expect(page.getByRole('tab', { name: 'Rules' })).toBeFocused();
  await expect(page.getByRole('tab', { name: 'Rules' })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('End');
  await expect(page.getByRole('tab', { name: 'Log' })).toBeFocused();
  await page.keyboard.press('Home');
  await expect(page.getByText('Page 17 of 60')).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(
    page.getByRole('button', { name: 'Go to the tab of Export orders of claude-code' }),
  ).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Cancel Export orders of claude-code' })).toBeFocused();
});

drawing(
  'the page of agents is among the others where there are agents, and Stop goes by keyboard',
  async ({ canvas }) => {
    const page = await drawn('agents-busy', canvas);
    await page.getByRole('tab', { name: 'Agents' }).focus();
    await page.keyboard.press('ArrowLeft');
    await expect(page.getByRole('tab', { name: 'Clients' })).toBeFocused();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('tab', { name: 'Agents' })).toBeFocused();
    await page.keyboard.press('Tab');
    const stop = page.getByRole('button', { name: 'Stop reader for claude-code' }).first();
    await expect(stop).toBeFocused();
    await expect(stop).toHaveAccessibleDescription(/What it did stays done/);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('status')).toContainText('Stopped reader for claude-code.');
    await expect(page.getByRole('tab', { name: 'Agents' })).toBeFocused();
    await change(page, 'agents', { ...data.agents, agents: [], spent: {} });
    await expect(page.getByText('docs/delegation.md says how')).toBeVisible();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('tab', { name: 'Log' })).toBeFocused();
    await expect(page.getByRole('tab', { name: 'Agents' })).toHaveCount(0);
  },
);

drawing('focus stays where it is when a list changes around it', async ({ canvas }) => {
  const page = await drawn('now', canvas);
  const cancel = page.getByRole('button', { name: 'Cancel Edit a page of codex' });
  await cancel.focus();
  const { calls } = data.running;
  await change(page, 'running', {
    ...data.running,
    calls: [{ ...calls[0], id: 'c9', title: 'Brand new' }, calls[1]],
  });
  await expect(page.getByText('Brand new')).toBeVisible();
  await expect(page.getByText('Export orders')).toHaveCount(0);
  await expect(cancel).toBeFocused();
});

drawing(
  'when a question ends, focus goes to the next one, and from the last to the heading',
  async ({ canvas }) => {
    const page = await drawn('questions', canvas);
    const questions = page.getByRole('article');
    await expect(questions.nth(0)).toBeFocused();
    await page.keyboard.press('Tab');
    await change(page, 'approvals', data.waiting(data.writing));
    await expect(questions).toHaveCount(1);
    await expect(questions).toBeFocused();
    await change(page, 'approvals', data.waiting());
    await expect(page.getByRole('heading', { name: 'Questions' })).toBeFocused();
  },
);

drawing(
  'a new question does not move the one that is read, and buttons that allow rest for a moment',
  async ({ canvas }) => {
    const page = await drawn('question', canvas);
    const allow = page.getByRole('button', { name: 'Allow for this session' });
    await expect(allow).toBeEnabled();
    await allow.focus();
    // How many buttons rest is counted in the page, in the moment in which the new questions are there.
    await page.evaluate(() => {
      const drawn = new Promise<number>((resolve) => {
        const look = () => {
          if (document.querySelectorAll('article').length === 3)
            resolve(document.querySelectorAll('[aria-disabled=true]').length);
        };
        new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
      });
      Object.assign(globalThis, { drawn });
    });
    await change(
      page,
      'approvals',
      data.waiting({ ...data.changing, id: 'q8' }, data.reading, data.changing),
    );
    await expect(page.getByRole('article')).toHaveCount(3);
    expect(await page.evaluate(() => Reflect.get(globalThis, 'drawn'))).toBeGreaterThanOrEqual(3);
    await expect(
      page
        .getByRole('article')
        .filter({ hasText: 'read “Example Shop”' })
        .getByRole('button', { name: 'Allow for this session' }),
    ).toBeFocused();
    await expect(page.locator('[aria-disabled=true]')).toHaveCount(0);
  },
);

drawing('what comes above a question lets its buttons that allow rest', async ({ canvas }) => {
  const page = await drawn('question', canvas);
  const allow = page.getByRole('button', { name: 'Allow for this session' });
  await expect(allow).toBeEnabled();
  // Looked at in the page, in the moment in which the card of a change is there.
  await page.evaluate(() => {
    const drawn = new Promise<string | null>((resolve) => {
      const look = () => {
        if (document.querySelector('article.change') === null) return;
        const buttons = [...document.querySelectorAll('article:not(.change) button')];
        const one = buttons.find(({ textContent }) => textContent === 'Allow for this session');
        // No click comes between the change and the next task.
        setTimeout(() => resolve(one?.getAttribute('aria-disabled') ?? null));
      };
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    });
    Object.assign(globalThis, { drawn });
  });
  const { changes } = data.changes;
  await change(page, 'approvals', { ...data.waiting(data.reading), changes: changes.slice(0, 1) });
  await expect(page.locator('article.change')).toHaveCount(1);
  expect(await page.evaluate(() => Reflect.get(globalThis, 'drawn'))).toBe('true');
  await expect(page.locator('[aria-disabled=true]')).toHaveCount(0);
});

drawing('nothing is allowed before the end of what is asked was in view', async ({ canvas }) => {
  const page = await drawn('question', canvas);
  const steps = Array.from({ length: 40 }, (_, i) => `Click button "Step ${i + 1}"`);
  await change(page, 'approvals', data.waiting(data.acting(...steps)));
  const [read, allow] = [
    page.getByRole('button', { name: 'Read it all first' }),
    page.getByRole('button', { name: 'Allow once' }),
  ];
  await expect(read).toBeVisible();
  await expect(allow).toHaveCount(0);
  await read.click();
  await expect(page.getByText('Step 40')).not.toBeInViewport();
  await expect(read).toBeVisible();
  await expect(allow).toHaveCount(0);
  await page.getByText('Step 40').scrollIntoViewIfNeeded();
  await expect(allow).toBeEnabled();
  await page.evaluate(() => scrollTo(0, 0));
  await expect(allow, 'it was read').toBeVisible();
});

drawing('rules that may be missing can be looked at, and left as strict as they are', async ({ canvas }) => {
  const page = await drawn('lost', canvas);
  await page.getByRole('link', { name: 'See and change your rules' }).click();
  await expect(page.getByRole('tab', { name: 'Rules' })).toHaveAttribute('aria-selected', 'true');
  const [lost] = data.lost.changes;
  await expect(page.getByRole('button', { name: 'Keep asking' })).toBeEnabled();
  await change(page, 'approvals', { ...data.lost, changes: [{ ...lost, aside: true }] });
  await expect(page.getByRole('button', { name: 'Keep asking' })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Use these rules' })).toBeVisible();
  await page.getByRole('tab', { name: 'Now' }).click();
  await expect(page.getByRole('button', { name: 'Use these rules' })).toHaveCount(0);
});

drawing('what is read out changes when something happens, not while time passes', async ({ canvas }) => {
  const page = await drawn('question', canvas);
  const said = page.getByRole('status');
  await expect(said).toContainText('Question: claude-code: List orders. 1 waiting.');
  await page.evaluate(() => {
    const status = document.querySelector('[role=status]');
    const heard: string[] = [];
    Object.assign(globalThis, { heard });
    if (status)
      new MutationObserver(() => heard.push(status.textContent ?? '')).observe(status, {
        childList: true,
        characterData: true,
        subtree: true,
      });
  });
  await page.clock.setFixedTime(new Date('2026-03-02T10:00:05Z'));
  await expect(page.getByText('36 s left')).toBeVisible();
  expect(await page.evaluate(() => Reflect.get(globalThis, 'heard'))).toEqual([]);
});

drawing(
  'a dangerous button asks first; Escape takes it back, with focus where it was',
  async ({ canvas }) => {
    const page = await drawn('clients', canvas);
    const revoke = page.getByRole('button', { name: 'Revoke codex' });
    await revoke.focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(revoke).toBeFocused();
  },
);

drawing('in forced colours every state is still told by words and lines', async ({ canvas }) => {
  const page = await drawn('questions', canvas, { width: 320, scheme: 'dark', forcedColors: 'active' });
  await expect(page.getByText('May delete or overwrite')).toHaveCSS('border-top-style', 'solid');
  await expect(page.getByRole('button', { name: 'Stop everything' })).toHaveCSS('border-top-style', 'solid');
});

drawing('what is to be confirmed is read to its end first', async ({ canvas }) => {
  const page = await drawn('keep-script', canvas);
  const card = page.getByRole('article', { name: 'Keep a script as orders-of-the-month' });
  const read = card.getByRole('button', { name: 'Read it all first' });
  await expect(card.getByRole('button', { name: 'Deny' })).toBeVisible();
  await read.focus();
  await page.keyboard.press('Enter');
  await expect(card.locator('.reading')).toBeFocused();
  await expect(read, 'the script goes on').toBeVisible();
  await expect(card.getByRole('button', { name: 'Allow' })).toHaveCount(0);
  await page.keyboard.press('End');
  await expect(card.getByRole('button', { name: 'Allow' })).toBeEnabled();
  await expect(read).toHaveCount(0);
});
