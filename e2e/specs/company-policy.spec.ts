// What an administrator set for a machine holds against everybody on it who would like more: the person, by each of
// their ways, agents, plugins and pages. The relay is the shipped one, and so are the extension and the browser.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import type { Agent } from '../stage/agent.ts';
import type { Answer } from '../stage/answer.ts';
import type { Closing } from '../stage/closing.ts';
import { agentOf, delegate, delegating, endOf } from '../stage/errands.ts';
import { Machine, noMachine } from '../stage/machine.ts';
import { openModel } from '../stage/model.ts';
import { testPlugin } from '../stage/plugin.ts';
import { start } from '../stage/process.ts';
import type { Relay } from '../stage/relay.ts';
import { openPanel } from '../stage/side-panel.ts';
import { takePicture } from '../stage/taken.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

const missing = noMachine();
test.skip(missing !== undefined, missing);

const contact = 'it@example.org';

/** Who says no, and what to do then: in each refusal, whatever it is that was tried. */
function expectTold(said: string, about: string) {
  expect(said, about).toMatch(/your organization['’]s policy/);
  expect(said, about).toContain(contact);
}

const secret = (kind: string) =>
  `<!doctype html><title>Title bank</title><body style="background: #f0f"><p>Words bank ${kind}`;

/** A bank that the policy closes, and a forum that shows it in each way that a page has. */
async function openSites(closing: Closing) {
  const inner = (kind: string) => JSON.stringify(secret(kind)).replaceAll('<', '\\u003c');
  const bank = await openSite(closing, {
    '': `${secret('itself')}<script>
const add = (set) => set(document.body.appendChild(document.createElement('iframe')));
add((frame) => { frame.srcdoc = ${inner('srcdoc')}; });
add((frame) => { frame.src = URL.createObjectURL(new Blob([${inner('blob')}], { type: 'text/html' })); });
</script>`,
  });
  const framed = (title: string, address: string) => `<iframe title="${title}" src="${address}"></iframe>`;
  const forum = await openSite(closing, {
    '': `<!doctype html><title>Forum</title><p>Words forum${framed('framed', `${bank}/`)}
${framed('nested', '/nested')}${framed('redirected', '/go')}
<iframe title="inherited" srcdoc='${framed('within srcdoc', `${bank}/`)}'></iframe>
<p><a href="${bank}/">To the bank</a>`,
    nested: `<!doctype html><p>Words forum nested${framed('deep', `${bank}/`)}`,
    go: new URL(`${bank}/`),
  });
  return { bank, forum };
}

/** How many pixels of a picture have the color of the bank's pages. */
function bankPixels(page: Page, url: string): Promise<number> {
  return page.evaluate(async (source) => {
    const image = await createImageBitmap(await (await fetch(source)).blob());
    const pen = new OffscreenCanvas(image.width, image.height).getContext('2d');
    pen?.drawImage(image, 0, 0);
    const { data } = pen?.getImageData(0, 0, image.width, image.height) ?? new ImageData(1, 1);
    const is = (at: number) =>
      (data[at] ?? 0) > 180 && (data[at + 1] ?? 255) < 80 && (data[at + 2] ?? 0) > 180;
    return Array.from({ length: data.length / 4 }, (_, nth) => is(nth * 4)).filter(Boolean).length;
  }, url);
}

interface Ground extends Stage {
  machine: Machine;
  bank: string;
  forum: string;
}

/** A person whose own settings allow everything, on a machine whose policy does not. */
async function openGround(closing: Closing, config: object = {}): Promise<Ground> {
  const machine = await Machine.open(closing);
  const { bank, forum } = await openSites(closing);
  await machine.policy({
    contact,
    rules: { demo__counter_increment: 'off' },
    sites: { deny: [`${bank}/*`] },
    plugins: { allow: [{ source: 'tabrelay' }] },
    settings: { trustedInput: false, timeoutMs: 30_000 },
  });
  const stage = await openStage(closing, {
    program: machine.tabrelay,
    trouble: false,
    config: { permissions: { default: 'auto', [bank]: 'auto', demo: 'auto' }, timeoutMs: 20_000, ...config },
  });
  return { ...stage, machine, bank, forum };
}

/** The same calls, which the policy refuses whoever makes them. */
async function expectRefused(agent: Agent, bank: string, about: string) {
  for (const [tool, args] of [
    ['demo__counter_increment', { name: 'policy' }],
    ['browser__open_tab', { url: `${bank}/` }],
  ] as const) {
    const answer = await agent.call(tool, args);
    expect([answer.code, answer.facts.outcome], `${about}: ${tool}`).toEqual([
      'PERMISSION_DENIED',
      'not_executed',
    ]);
    expectTold(answer.texts.join('\n'), `${about}: ${tool}`);
  }
}

/** What a command says that fails, as somebody at a terminal who agrees to everything gets it. */
async function failing(relay: Relay, env: Record<string, string>, ...args: string[]): Promise<string> {
  const program = start(relay.binary, args, { ...relay.env, ...env }, 'yes\n');
  expect(await program.ended, args.join(' ')).toBe(1);
  return program.output();
}

test('no setting, command or variable of the person widens what the policy fixed', async ({ closing }) => {
  const ground = await openGround(closing);
  const { relay, agent, bank, demo, machine } = ground;
  await expectRefused(agent, bank, 'config.json and the environment allow everything');
  expect((await agent.call('demo__counter_read', { name: 'policy' })).failed, 'what is not fixed runs').toBe(
    false,
  );

  const plugin = await testPlugin('trouble', demo.url, closing);
  for (const args of [
    ['permit', 'set', bank, 'auto'],
    ['permit', 'set', 'demo__counter_increment', 'ask', '--for', '1h'],
    ['permit', 'set', `demo__counter_increment@${demo.url}`, 'auto', '--client', 'e2e'],
    ['permit', 'unset', 'demo__counter_increment'],
    ['config', 'set', 'timeoutMs', '100000'],
    ['plugin', 'add', plugin],
    ['up', '--browser', 'none', '--trusted-input'],
  ])
    expectTold(await failing(relay, {}, ...args), args.join(' '));
  const elsewhere = { TABRELAY_POLICY: '/dev/null', TABRELAY_POLICY_FILE: '/dev/null', HOME: '/nowhere' };
  expectTold(await failing(relay, elsewhere, 'config', 'set', 'timeoutMs', '100000'), 'variables');
  const widened = { ...relay.env, TABRELAY_TIMEOUT_MS: '100000', TABRELAY_TRUSTED_INPUT: 'true' };
  for (const [key, value] of [
    ['timeoutMs', '30000'],
    ['trustedInput', 'false'],
  ] as const) {
    const shown = start(relay.binary, ['config', 'show', key], widened);
    expect(await shown.ended).toBe(0);
    expect(shown.printed().trim()).toBe(value);
    expect(shown.output(), key).toContain('It is from: policy.');
  }
  // There is no flag that names another configuration.
  const flagged = start(relay.binary, ['--config', '/dev/null', 'permit', 'list'], relay.env);
  expect(await flagged.ended).toBe(2);

  // What is written into config.json, past every command.
  const config = path.join(relay.home, 'config.json');
  const written: Record<string, unknown> = JSON.parse(await readFile(config, 'utf8'));
  const permissions = { [bank]: 'auto', demo__counter_increment: 'auto', default: 'auto' };
  await writeFile(config, JSON.stringify({ ...written, permissions, trustedInput: true }));
  await relay.asPerson('POST', '/api/v1/reload');
  await expectRefused(agent, bank, 'config.json written anew');

  // A setting of a plugin that leads it to the site: the site stays closed.
  await ground.page.goto(`${bank}/`);
  await relay.person('plugin', 'configure', 'mediawiki', `url=${bank}/`);
  const wiki = await agent.call('relay__call_tool', {
    name: 'mediawiki__search',
    arguments: { query: 'words' },
  });
  expect([wiki.failed, wiki.facts.outcome], wiki.texts.join('\n')).toEqual([true, 'not_executed']);
  expectTold(wiki.texts.join('\n'), 'a plugin’s setting');

  // A second relay, of another home, whose settings allow everything as well.
  const { relay: second, agent: other } = await openStage(closing, {
    program: machine.tabrelay,
    trouble: false,
    config: { permissions: { default: 'auto', [bank]: 'auto' } },
  });
  expect(second.home).not.toBe(relay.home);
  await expectRefused(other, bank, 'another home');
  expectTold(await failing(second, {}, 'permit', 'set', bank, 'auto'), 'another home');
});

test('the panel shows what the policy fixed as that, and gets no more than the command line', async ({
  closing,
}) => {
  const { browser, relay, agent, bank } = await openGround(closing);
  const panel = await openPanel(browser, 'rules');
  const fixed = panel.getByRole('listitem').filter({ hasText: 'demo__counter_increment' });
  await expect(fixed).toContainText('Set by your organization');
  await expect(fixed.getByRole('button')).toHaveCount(0);
  const facts = panel.getByRole('region', { name: 'Set by your organization' });
  for (const said of [`${bank}/*`, 'tabrelay', 'timeoutMs, trustedInput', contact])
    await expect(facts).toContainText(said);

  await panel.getByText('New rule').click();
  await panel.getByLabel('For', { exact: true }).fill(bank);
  await panel.getByLabel('Permission', { exact: true }).selectOption('auto');
  await panel.getByRole('button', { name: 'Add the rule' }).click();
  await expect(panel.getByRole('alert')).toContainText('your organization');
  await expect(panel.getByRole('alert')).toContainText(contact);
  expect(await relay.tabrelay('permit', 'list')).not.toMatch(new RegExp(`${bank} .*person`));
  await expectRefused(agent, bank, 'after the panel');
});

test('a site that the policy closes is closed in every frame, and to each way of looking', async ({
  closing,
}) => {
  const model = await openModel(closing);
  const stage = await openGround(closing, delegating(model));
  const { agent, bank, forum, page, browser } = stage;
  await visit(stage, `${forum}/`);
  const frames = () => page.frames().filter((frame) => frame.url().startsWith(`${bank}/`)).length;
  await expect.poll(frames, { message: 'the page shows the bank in each way' }).toBe(4);
  for (const frame of page.frames().filter((one) => one.url().startsWith(`${bank}/`)))
    await expect(frame.getByText('Words bank itself')).toBeVisible();

  const expectSilent = (answer: Answer, about: string) => {
    const said = JSON.stringify(answer.texts);
    expect(said, about).not.toMatch(/(Words|Title) bank/);
    return said;
  };
  const script = { script: "browser.read({ what: 'text' })" };
  for (const [tool, args] of [
    ['browser__snapshot', { full: true }],
    ['browser__find', { text: 'Words' }],
    ['browser__read', { what: 'text' }],
    ['relay__run', script],
  ] as const) {
    const said = expectSilent(await agent.call(tool, args), tool);
    expect(said, tool).toContain('Words forum');
  }
  const look = await agent.call('browser__snapshot', { full: true });
  expect(look.text).toContain(`${bank} not readable`);
  const seen = await page.screenshot();
  expect(
    await bankPixels(page, `data:image/png;base64,${seen.toString('base64')}`),
    'a person',
  ).toBeGreaterThan(100);
  const picture = await takePicture(agent);
  expect(await bankPixels(page, picture.url), 'an agent').toBe(0);
  expect(picture.note).toContain(bank);

  model.play((shown) =>
    shown.results.length === 0
      ? {
          say: '',
          calls: [
            { tool: 'browser__read', input: { what: 'text' } },
            { tool: 'browser__open_tab', input: { url: `${bank}/` } },
          ],
        }
      : { say: shown.results.map(({ text }) => text).join('\n') },
  );
  const delegated = endOf(
    await delegate(agent, { prompt: 'Read what the bank says.', agentId: agentOf('openai') }),
  );
  expect(JSON.stringify(delegated)).not.toMatch(/(Words|Title) bank/);
  expect(delegated.toolCalls.find(({ tool }) => tool === 'browser__open_tab')).toMatchObject({
    ok: false,
    code: 'PERMISSION_DENIED',
  });

  // The person goes there, and an agent sees nothing of it, whatever it asks.
  const before = browser.pages().length;
  await page.goto(`${bank}/`);
  for (const [tool, args] of [
    ['browser__snapshot', {}],
    ['browser__read', { what: 'text' }],
    ['browser__screenshot', {}],
    ['browser__list_tabs', {}],
  ] as const)
    expectSilent(await agent.call(tool, args), `${tool} at the bank`);
  await page.goto(`${forum}/`);
  await visit(stage, `${forum}/`);
  const acting = new Acting(agent);
  const ref = /link "To the bank" \[(e\d+)\]/.exec(await acting.look({}))?.[1];
  const led = await agent.call('browser__click', { ref });
  expectSilent(led, 'a link');
  expect(led.value).toMatchObject({ url: bank, note: expect.stringContaining('off') });
  const redirected = await agent.call('browser__open_tab', { url: `${forum}/go` });
  expect(redirected.code).toBe('PERMISSION_DENIED');
  expectTold(redirected.texts.join('\n'), 'a redirect');
  await expect.poll(() => browser.pages().length).toBe(before);
});

test('a policy that comes, changes and is broken while a browser is open holds at once', async ({
  closing,
}) => {
  const machine = await Machine.open(closing);
  const { bank } = await openSites(closing);
  const stage = await openStage(closing, {
    program: machine.tabrelay,
    trouble: false,
    config: { permissions: { default: 'auto' } },
  });
  const { agent, relay } = stage;
  await visit(stage, `${bank}/`);
  expect((await agent.call('browser__read', { what: 'text' })).text).toContain('Words bank');
  await machine.policy({ contact, sites: { deny: [`${bank}/*`] } });
  const refused = () => agent.call('browser__open_tab', { url: `${bank}/` }).then(({ code }) => code);
  await expect.poll(refused).toBe('PERMISSION_DENIED');
  expect((await agent.call('browser__read', { what: 'text' })).texts.join('\n')).not.toContain('Words bank');
  await machine.policy('{"sites": {"deny": []');
  await expect.poll(() => relay.tabrelay('status')).toMatch(/^refused /m);
  expect(await refused()).toBe('PERMISSION_DENIED');
});
