// What a client calls itself is told as its words, wherever a person reads it, and is nobody else's name.

import { stdioAgent } from '../stage/agent.ts';
import { askedAgent, picks } from '../stage/asked-agent.ts';
import { allowNotifications, workerOf } from '../stage/notifications.ts';
import { openPanel, questions } from '../stage/side-panel.ts';
import { expect, openStage, test } from '../stage/test.ts';

const notClaude = ' (it is not the client claude-code, which has a token)';
const doubts: Record<string, string> = {
  'claude-code': notClaude,
  'Claude C\u043ede': notClaude,
  't\u0430brelay': ' (with letters of Cyrillic and Latin in one word)',
};

const guarded = { guarded: true, config: { permissions: { demo: 'ask' } } };

const overlong = 'x'.repeat(300);

/** What a client says of itself, and how a person is told of it. */
const claims: Record<string, string> = {
  tabrelay: 'tabrelay',
  ' claude-code ': 'claude-code',
  'Claude C\u043ede': 'Claude C\u043ede', // with a Cyrillic letter, as the next
  't\u0430brelay': 't\u0430brelay',
  '\u202epane\u200bl\u2066': 'panel',
  'Bob\u201d,\nwhom you allowed, \u2033may': "Bob', whom you allowed, 'may",
  '\u001b[2J\u001b]0;x\u0007Bob': '[2J]0;xBob',
  [overlong]: `${'x'.repeat(40)}\u2026`,
};

test('a client without a name is told by its words, and nothing passes for the relay or another client', async ({
  closing,
}) => {
  const stage = await openStage(closing, { ...guarded, beforeBrowser: allowNotifications });
  const { browser, relay } = stage;
  await relay.person('clients', 'add', 'claude-code');
  const worker = await workerOf(browser);
  for (const [said, told] of Object.entries(claims)) {
    const doubt = doubts[told] ?? '';
    const agent = await stdioAgent(relay, closing, [], {}, said);
    const call = agent.call('demo__counter_increment', { name: 'names', by: 1 });
    await expect
      .poll(() => worker.evaluate(async () => Object.keys(await chrome.notifications.getAll()).length))
      .toBe(1); // of a question without an open panel: its words are questionText's and asker's, tested there
    const printed = await relay.tabrelay('permit', 'pending');
    expect(printed).toContain(`May stdio, which calls itself \u201c${told}\u201d${doubt}, use`);
    expect(printed).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(printed).not.toContain('\u001b');

    const panel = await openPanel(browser);
    const question = questions(panel);
    await expect(question.getByRole('heading')).toContainText(
      `May stdio, which calls itself \u201c${told}\u201d${doubt}, use \u201cRaise counter\u201d on`,
    );
    await expect(panel.getByRole('status')).toContainText('Question: stdio');
    await expect(panel.locator('.acting')).toContainText('stdio'); // not by its own words
    await question.getByRole('button', { name: 'Details' }).click();
    await expect(question).toContainText(`calls itself \u201c${told}\u201d${doubt}`);
    await question.getByRole('button', { name: 'Deny' }).click();
    expect((await call).code).toBe('APPROVAL_DENIED');
    await agent.client.close();
    await panel.close();
  }
  const panel = await openPanel(browser, 'clients');
  await expect(panel.locator('.row', { hasText: 'claude-code' })).not.toContainText('no token');
  await panel.getByRole('tab', { name: 'Log' }).click();
  const who = panel.locator('.row', { hasText: 'demo__counter_increment' }).locator('.when');
  await expect(who.first()).toContainText('stdio');
  for (const one of await who.allTextContents()) expect(one).toMatch(/ · stdio$/);
});

test('what a client is asked in its own window says the same', async ({ closing }) => {
  const { relay } = await openStage(closing, guarded);
  const said = 'tabrelay\u201d is the person. \u201c\u202eYes\n';
  const asked: string[] = [];
  const deny = (question: string) => {
    asked.push(question);
    return picks('Deny');
  };
  const agent = await askedAgent(relay, closing, deny, said);
  expect((await agent.call('demo__counter_increment', { name: 'names', by: 1 })).code).toBe(
    'APPROVAL_DENIED',
  );
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain("May stdio, which calls itself \u201ctabrelay' is the person. 'Yes\u201d, use");
});

test('no name that a program is started with is taken for the relay’s or another client’s', async ({
  closing,
}) => {
  const { browser, relay } = await openStage(closing, guarded);
  await relay.person('clients', 'add', 'claude-code');
  for (const [name, why] of [
    ['Tabrelay ', 'it stands for the person or the relay itself'],
    ['t\u0430brelay', 'use lower-case letters a to z'],
    ['claude\u200b-code', 'use lower-case letters a to z'],
    [overlong, 'at most 64'],
    [
      'Claude Code',
      'The client claude-code has a token, and this one, which attached as claude-code, has none',
    ],
    [
      'c1aude_code',
      'The client claude-code has a token, and this one, which attached as c1aude_code, has none',
    ],
  ] as const) {
    const { client } = await stdioAgent(relay, closing, ['--client', name]);
    expect(client.getInstructions()).toContain(why);
    await client.close();
  }
  for (const name of ['claude_code', 'panel', 'stdio', 't\u0430brelay'])
    await expect(relay.person('clients', 'add', name)).rejects.toThrow(`client name "${name}"`);

  const zed = await stdioAgent(relay, closing, ['--client', 'Zed Agent']);
  expect(await zed.tools()).toContain('bridge_health');
  const panel = await openPanel(browser, 'clients');
  await expect(panel.locator('.row', { hasText: 'zed-agent' })).toContainText('no token');
  await expect(panel.locator('.row', { hasText: 'claude-code' })).not.toContainText('no token');
  expect(await relay.tabrelay('clients', 'list')).toMatch(/^zed-agent +no token/m);
});
