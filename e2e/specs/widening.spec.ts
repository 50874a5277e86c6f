// Whatever lets agents do more is confirmed by a person: in the side panel when it is open, else at the terminal that
// controls the process. What a program pipes in counts for nothing.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { stdioAgent } from '../stage/agent.ts';
import { binary } from '../stage/paths.ts';
import { start } from '../stage/process.ts';
import type { Relay } from '../stage/relay.ts';
import { openPanel } from '../stage/side-panel.ts';
import { atTerminal } from '../stage/terminal.ts';
import { expect, openStage, test } from '../stage/test.ts';

const nobody = 'there is no terminal here to confirm it in';

const card = (panel: Page, text: string | RegExp) => panel.getByRole('article').filter({ hasText: text });
const rules = (relay: Relay) => relay.tabrelay('permit', 'list');

/** A command as a program runs it that has no terminal, with something to read. */
function unattended(relay: Relay, ...args: string[]) {
  return start(binary, args, relay.env, 'yes\n');
}

/** Writes permissions into config.json while the relay runs. */
async function permit(relay: Relay, permissions: Record<string, string>) {
  const file = path.join(relay.home, 'config.json');
  const config: Record<string, unknown> = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...config, permissions }));
}

test('with a panel open, what a program asks for is a question there', async ({ closing }) => {
  const { relay, browser } = await openStage(closing, { guarded: true, config: {} });
  const panel = await openPanel(browser);
  await expect(panel.getByRole('status').first()).toContainText('Connected');

  const denied = unattended(relay, 'permit', 'set', 'default', 'auto');
  const question = card(panel, 'Allow “tabrelay permit set default auto”?');
  await expect(question).toContainText('Asked by a program on this computer.');
  await expect(question).toContainText('default');
  await expect(question.getByRole('listitem')).toContainText('no rule (Ask me)');
  await expect(question.getByRole('listitem')).toContainText('Allow');
  expect(denied.output()).toContain("Answer in tabrelay's panel.");
  await question.getByRole('button', { name: 'Deny' }).click();
  expect(await denied.ended).toBe(1);
  expect(denied.output()).toContain("The person did not allow it in tabrelay's panel");
  await expect(question).toHaveCount(0);
  expect(await rules(relay)).not.toContain('auto      never expires  person');

  // The word at a terminal is not taken in place of the panel's answer.
  const typed = atTerminal(relay, closing, ['permit', 'set', 'default', 'auto'], 'yes\n');
  await expect(question).toBeVisible();
  expect(await rules(relay)).not.toMatch(/^default +every +auto/m);
  await question.getByRole('button', { name: 'Allow' }).click();
  expect(await typed.ended).toBe(0);
  expect(await rules(relay)).toMatch(/^default +every +auto +never expires +person/m);

  // Less is free, and what the person does in the panel is not asked about twice.
  await relay.tabrelay('permit', 'set', 'default', 'ask');
  await relay.tabrelay('pause');
  await panel.getByRole('button', { name: 'Resume' }).click();
  await expect.poll(() => relay.tabrelay('status')).not.toContain('paused');

  for (const [args, shown] of [
    [['resume'], 'Allow “tabrelay resume”?'],
    [['pair'], 'Allow “tabrelay pair”?'],
    [['clients', 'add', 'visitor'], 'Allow “tabrelay clients add visitor”?'],
    [['pair', '--rotate'], 'Allow “tabrelay pair --rotate”?'],
  ] as const) {
    if (args[0] === 'resume') await relay.tabrelay('pause');
    const command = unattended(relay, ...args);
    await card(panel, shown).getByRole('button', { name: 'Allow' }).click();
    expect(await command.ended, args.join(' ')).toBe(0);
  }
  await expect.poll(() => relay.browsers(), { message: 'it connects with the new secret' }).toBe(1);
  const log = await relay.tabrelay('audit', '--kind', 'widening', '--json');
  for (const said of ['denied', 'allowed', 'panel', 'default: no rule (ask) → auto'])
    expect(log).toContain(said);
});

test('without a panel, only the word at the controlling terminal counts', async ({ closing }) => {
  const { relay, browser } = await openStage(closing, { guarded: true, config: {} });
  const panel = await openPanel(browser);
  await expect(panel.getByRole('status').first()).toContainText('Connected');
  await panel.close(); // a browser that is connected is no panel that is open
  for (const args of [
    ['permit', 'set', 'default', 'auto'],
    ['permit', 'set', 'wiki', 'auto', '--for', '1h'],
    ['clients', 'add', 'visitor'],
    ['pair'],
    ['pair', '--rotate'],
  ]) {
    if (args[2] === 'wiki') args[2] = 'mediawiki';
    const command = unattended(relay, ...args);
    expect(await command.ended, args.join(' ')).toBe(1);
    expect(command.output()).toContain(nobody);
  }
  await relay.tabrelay('pause');
  const resume = unattended(relay, 'resume');
  expect(await resume.ended).toBe(1);
  const other = atTerminal(relay, closing, ['resume'], 'y\n');
  expect(await other.ended).toBe(1);
  expect(other.output()).toContain('Type yes to allow this:');
  expect(await relay.tabrelay('status')).toContain('paused');
  await relay.person('resume');
  expect(await relay.tabrelay('status')).not.toContain('paused');
});

test('config.json changed while the relay runs: less at once, more after the person said so', async ({
  closing,
}) => {
  const { relay, browser } = await openStage(closing, { guarded: true, config: {} });
  const agent = await stdioAgent(relay, closing, ['--toolset', 'all']);
  const panel = await openPanel(browser);
  await expect(panel.getByRole('status').first()).toContainText('Connected');
  await permit(relay, { mediawiki: 'auto', demo__hello: 'off' });
  const waiting = card(panel, 'config.json was changed to let agents do more');
  await expect(waiting).toContainText('permissions.mediawiki');
  await expect.poll(() => agent.tools()).not.toContain('demo__hello');
  const asks = async () => {
    const { tools } = await agent.client.listTools();
    return tools.find(({ name }) => name === 'mediawiki__edit_page')?._meta?.['tabrelay/permission'];
  };
  expect(await asks()).toBe('ask');
  expect(await relay.tabrelay('status')).toMatch(
    /permissions\.mediawiki: no rule → auto: \S*tabrelay config apply/,
  );
  await waiting.getByRole('button', { name: 'Allow' }).click();
  await expect.poll(asks).toBeUndefined();
  await expect(waiting).toHaveCount(0);

  await permit(relay, { mediawiki: 'auto', default: 'auto' });
  await waiting.getByRole('button', { name: 'Keep as it was' }).click();
  await expect(waiting).toHaveCount(0);
  expect(await rules(relay)).toMatch(/^default +every +auto +never expires +config, not in effect/m);
});

test('what a start lets agents do more is in effect, shown, and taken back', async ({ closing }) => {
  const { relay, browser } = await openStage(closing, { guarded: true, config: {} });
  await relay.down();
  await relay.configure({
    listen: '127.0.0.1:0',
    demo: { listen: '127.0.0.1:0' },
    permissions: { default: 'auto' },
  });
  await relay.start();
  await expect.poll(() => relay.browsers()).toBe(1);
  expect(await rules(relay)).toContain('tools without a rule run');
  const panel = await openPanel(browser);
  const shown = card(panel, 'Since the last start, agents may do more');
  await expect(shown).toContainText('permissions.default');
  await shown.getByRole('button', { name: 'Undo' }).click();
  await expect(shown).toHaveCount(0);
  await expect.poll(() => rules(relay)).toContain('tools without a rule ask you first');
  expect(await relay.tabrelay('audit', '--kind', 'widening')).toContain('undone');

  await relay.down();
  await relay.start();
  expect(await rules(relay), 'a restart does not bring it back').toContain(
    'tools without a rule ask you first',
  );
});
