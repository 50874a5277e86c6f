// Chromium under the policies of an organization: the extension is installed by one, and others close sites and
// permissions to it. Nothing here is a flag that a person's browser lacks.

import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { type BrowserContext, chromium } from '@playwright/test';
import { z } from 'zod';
import { colours, coloursOf, picture } from '../sites/framed.ts';
import { openSite } from '../sites/own-pages.ts';
import { type Agent, stdioAgent } from '../stage/agent.ts';
import type { Closing } from '../stage/closing.ts';
import { managedFlags } from '../stage/flags.ts';
import { Machine, noMachine } from '../stage/machine.ts';
import { repository, temporaryFolder } from '../stage/paths.ts';
import { portOf } from '../stage/port.ts';
import { run } from '../stage/process.ts';
import { openRelay } from '../stage/relay.ts';
import { openPanel } from '../stage/side-panel.ts';
import { expect, test } from '../stage/test.ts';

const missing = noMachine();
test.skip(missing !== undefined, missing);

/** Packs an extension as docs/company.md says, and serves it; returns its id and where its updates are. */
async function serveExtension(closing: Closing, from: string): Promise<{ id: string; updates: string }> {
  const folder = await temporaryFolder('managed', closing);
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? '', 'http://updates').pathname;
    if (!/^\/(?:update\.xml|tabrelay\.crx)$/.test(name)) response.writeHead(404).end();
    else createReadStream(path.join(folder, name)).pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${portOf(server.address())}`;
  const script = path.join(repository, 'packaging/managed.ts');
  const key = path.join(folder, 'key.pem');
  const args = ['--import', 'tsx', script, '--from', from, '--out', folder, '--key', key, '--url', url];
  const id = /^([a-p]{32}) /m.exec(await run('node', args))?.[1];
  if (id === undefined) throw new Error('the script names no id');
  return { id, updates: `${url}/update.xml` };
}

/** The store edition, built of the sources as they are. */
async function storeEdition(closing: Closing): Promise<string> {
  const folder = path.join(await temporaryFolder('edition', closing), 'unpacked');
  await run('go', ['-C', path.join(repository, 'extension'), 'run', './bundle', '-store', folder]);
  const zip = path.join(folder, '../store.zip');
  await run('go', ['-C', repository, 'run', './packaging/store', '-folder', folder, '-time', '0', zip]);
  return folder;
}

/** A browser that installs the extension because of its policy, and the relay that it finds. */
async function openManaged(closing: Closing, settings: object = {}) {
  const machine = await Machine.open(closing);
  const { id, updates } = await serveExtension(closing, await storeEdition(closing));
  await machine.policy({ settings: { extensionIds: [id] } });
  const config = { plugins: { 'browser-dev': { enabled: true } } };
  const relay = await openRelay(closing, config, { program: machine.tabrelay });
  const profile = await temporaryFolder('profile', closing);
  await relay.person('native-host', 'add', '--user-data-dir', profile);
  const documented = await documentedPolicy(id, updates);
  const ExtensionSettings = { ...documented, [id]: { ...documented[id], ...settings } };
  await machine.browserPolicy({ ...inspected, ExtensionSettings });
  const browser = await openManagedBrowser(machine, profile, closing);
  await expect.poll(() => relay.browsers()).toBe(1);
  const agent = await stdioAgent(relay, closing, ['--toolset', 'all']);
  return { relay, browser, agent };
}

const Policy = z.object({ ExtensionSettings: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** The policy that docs/company.md shows, with an id and an address in place of its own. */
async function documentedPolicy(id: string, updates: string) {
  const page = await readFile(path.join(repository, 'docs/company.md'), 'utf8');
  const shown = /```json\n([^`]*"ExtensionSettings"[^`]*)```/.exec(page)?.[1] ?? '';
  const ours = shown
    .replaceAll('abcdefghijklmnopabcdefghijklmnop', id)
    .replace('https://intranet.example.org/tabrelay/update.xml', updates);
  expect(ours).toContain(updates);
  return Policy.parse(JSON.parse(ours)).ExtensionSettings;
}

/** Without it nobody looks into what a policy installed, and the driver of the tests neither. */
const inspected = { DeveloperToolsAvailability: 1 };

async function openManagedBrowser(
  machine: Machine,
  profile: string,
  closing: Closing,
): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: machine.chromium,
    ignoreDefaultArgs: true,
    args: managedFlags(profile),
  });
  closing.defer(() => context.close());
  return context;
}

const Tabs = z.object({ tabs: z.array(z.object({ tabId: z.number(), url: z.string() })) });

async function tabAt(agent: Agent, url: string): Promise<number> {
  const find = async () => {
    const { tabs } = Tabs.parse((await agent.call('browser__list_tabs')).value);
    return tabs.find((tab) => tab.url === url)?.tabId ?? 0;
  };
  await expect.poll(find).not.toBe(0);
  return find();
}

test('a policy installs the extension, which finds its relay; doctor and panel say who did it', async ({
  closing,
}) => {
  const { relay, browser, agent } = await openManaged(closing);
  const site = await openSite(closing, { '': '<title>Site</title><p>Words of the site' });
  const [page = await browser.newPage()] = browser.pages();
  await page.goto(`${site}/`);
  const read = await agent.call('browser__read', { tabId: await tabAt(agent, `${site}/`), what: 'text' });
  expect(read.text).toContain('Words of the site');
  expect(await relay.tabrelay('doctor').catch(String)).toMatch(
    /ok {4}browser .* from a store, installed by your organization, open tabs: \d/,
  );
  const panel = await openPanel(browser, 'settings');
  await expect(panel.getByText(/, installed by your organization$/)).toBeVisible();
  const standing = await panel.evaluate(async () => ({
    mayDisable: (await chrome.management.getSelf()).mayDisable,
    ...(await chrome.action.getUserSettings()),
  }));
  expect(standing).toMatchObject({ mayDisable: false, isOnToolbar: true });
});

test('a site that the policy closes to the extension is told as that, in each way that leads to it', async ({
  closing,
}) => {
  const { relay, browser, agent } = await openManaged(closing, {
    runtime_blocked_hosts: ['*://*'],
    runtime_allowed_hosts: ['*://127.0.0.1'],
  });
  const words = '<title>Payroll</title><p>Words of the payroll';
  const payroll = (await openSite(closing, { '': words })).replace('127.0.0.1', 'localhost');
  const open = await openSite(closing, {
    '': `<title>Open</title><p>Open words<iframe title="Inner" src="${payroll}/"></iframe>
      <a href="${payroll}/">To the payroll</a>`,
    redirect: new URL(`${payroll}/`),
  });
  const [page = await browser.newPage()] = browser.pages();
  await page.goto(`${payroll}/`);
  const closed = await tabAt(agent, `${payroll}/`);
  await page.bringToFront(); // the extension’s first page came to the front

  for (const [tool, args] of [
    ['browser__snapshot', {}],
    ['browser__read', { what: 'text' }],
    ['browser__press', { keys: 'Enter' }],
    ['browser__wait', { text: 'Words' }],
    ['browser__screenshot', {}],
    ['browser__evaluate', { code: '1' }],
    ['browser__console', {}],
    ['browser__navigate', { to: 'back' }],
  ] as const) {
    const answer = await agent.call(tool, { tabId: closed, ...args });
    expect(answer.text, tool).toContain('[ERROR code=BROWSER_POLICY category=auth retryable=false');
    expect(answer.text, tool).toContain('policy of the organization that manages this browser');
    expect(answer.texts[1], tool).toContain('only an administrator can change it');
    expect(answer.texts[1], tool).toContain('"outcome":"not_executed"');
  }
  expect(await tabAt(agent, `${payroll}/`), 'the tab is still there').toBe(closed);
  const read = agent.client.readResource({ uri: `tab://${closed}/text` });
  const why = await read.catch((failed) => JSON.stringify(failed.data));
  expect(why).toContain('The policy of the organization');
  const ended = JSON.parse(await relay.tabrelay('audit', '--json', '--kind', 'call'));
  expect(JSON.stringify(ended)).not.toContain('"outcome":"unknown"');

  const free = await browser.newPage();
  await free.goto(`${open}/`);
  const tabId = await tabAt(agent, `${open}/`);
  const look = await agent.call('browser__snapshot', { tabId });
  expect(look.text).toContain('Open words');
  expect(look.text).toContain(`frame "Inner" ${payroll} not readable: closed to extensions by the policy`);
  expect(look.text).not.toContain('Words of the payroll');
  const ref = /link "To the payroll" \[(e\d+)\]/.exec(look.text)?.[1];
  const led = await agent.call('browser__click', { tabId, ref });
  expect(led.failed).toBe(false);
  expect(led.text).toContain('The page cannot be looked at: The policy of the organization');
  expect((await agent.call('browser__navigate', { tabId, to: `${open}/` })).text).toContain('went to page');
  const redirected = await agent.call('browser__navigate', { tabId, to: `${open}/redirect`, look: true });
  expect(redirected.text).toContain('The page cannot be looked at: The policy of the organization');
});

test('frames of such sites say the policy, whatever the rules say, and are black in pictures', async ({
  closing,
}) => {
  const { relay, browser, agent } = await openManaged(closing, {
    runtime_blocked_hosts: ['*://*'],
    runtime_allowed_hosts: ['*://127.0.0.1'],
  });
  const site = async (words: string, colour = '#fff') =>
    openSite(closing, {
      '': `<title>${words}</title><style>html { background: ${colour} }</style><p>Words ${words}`,
    });
  const local = (origin: string) => origin.replace('127.0.0.1', 'localhost');
  const [policy, both] = [local(await site('policy', colours.off)), local(await site('both', colours.ask))];
  const [ruled, open] = [await site('ruled', colours.excluded), await site('open', colours.auto)];
  const frames = { Policy: policy, Open: open, Both: both, Ruled: ruled };
  const inner = Object.entries(frames).map(
    ([name, src]) => `<iframe title="${name}" src="${src}/"></iframe>`,
  );
  const around = await openSite(closing, { '': `<title>Around</title><p>Words around ${inner.join('')}` });
  for (const off of [both, ruled]) await relay.tabrelay('permit', 'set', off, 'off');
  const [page = await browser.newPage()] = browser.pages();
  await page.goto(`${around}/`);
  await page.bringToFront();
  const tabId = await tabAt(agent, `${around}/`);

  const looks: [string, object][] = [
    ['browser__snapshot', { full: true }],
    ['browser__find', { text: 'Words' }],
    ['browser__read', { what: 'text' }],
    ['browser__screenshot', {}],
    ['browser__wait', { text: 'Words nowhere', timeoutMs: 300 }],
  ];
  for (const [tool, args] of looks) {
    const said = (await agent.call(tool, { tabId, ...args })).texts.join('\n');
    for (const one of [policy, both])
      expect(said, tool).toContain(`${one} not readable: closed to extensions by the policy of this browser`);
    expect(said, tool).toContain(`${ruled} not readable: off`);
    expect(said, tool).not.toContain(`${open} not readable`);
    for (const words of ['Words policy', 'Words both', 'Words ruled', 'could not be read'])
      expect(said, tool).not.toContain(words);
  }
  const { contents } = await agent.client.readResource({ uri: `tab://${tabId}/text` });
  const shownText = JSON.stringify(contents);
  for (const one of [policy, both])
    expect(shownText).toContain(
      `(frame ${one} not readable: closed to extensions by the policy of this browser)`,
    );
  expect(shownText).toContain(`(frame ${ruled} not readable: off)`);
  expect(shownText).toContain('Words open');
  expect(shownText).not.toMatch(/Words (policy|both|ruled)/);
  const seen = (await agent.call('browser__snapshot', { tabId, full: true })).text;
  expect(seen).toContain('Words open');
  const refOf = (name: string) => new RegExp(`frame "${name}" .*\\[(e\\d+)\\]`).exec(seen)?.[1];
  for (const name of ['Policy', 'Both'])
    for (const [tool, args] of [
      ['browser__snapshot', { ref: refOf(name) }],
      ['browser__read', { what: 'text', ref: refOf(name) }],
      ['browser__evaluate', { frame: refOf(name), code: '1' }],
    ] as const) {
      const answer = await agent.call(tool, { tabId, ...args });
      expect(answer.text, tool).toContain('[ERROR code=BROWSER_POLICY category=auth retryable=false');
      expect(answer.text, tool).toContain(`keeps extensions off ${name === 'Both' ? both : policy}`);
      expect(answer.texts[1], tool).toContain('only an administrator can change it');
      expect(answer.texts[1], tool).toContain('"outcome":"not_executed"');
    }
  const shown = await coloursOf(browser, await picture(agent, { tabId }));
  expect(shown).toEqual({ off: false, ask: false, auto: true, excluded: false });
});

test('a permission that the policy blocks is told where the person allows it, and to the agent', async ({
  closing,
}) => {
  const { browser, agent } = await openManaged(closing, { blocked_permissions: ['cookies'] });
  const site = await openSite(closing, { '': '<title>Site</title>' });
  const [page = await browser.newPage()] = browser.pages();
  await page.goto(`${site}/`);
  const cookies = { tabId: await tabAt(agent, `${site}/`), action: 'list' };
  expect((await agent.call('browser__cookies', cookies)).text).toContain('code=BROWSER_PERMISSION_MISSING');
  const panel = await openPanel(browser);
  const card = panel.getByRole('region', { name: 'Allow cookies' });
  await card.getByRole('button', { name: 'Allow cookies' }).click();
  await expect(card).toContainText('Your organization’s policy for this browser does not allow it.');
  const answer = await agent.call('browser__cookies', cookies);
  expect(answer.text).toContain('[ERROR code=BROWSER_POLICY category=auth retryable=false');
  expect(answer.text).toContain('does not let the extension see');
  await card.getByRole('button', { name: 'OK' }).click();
  await expect(card).toHaveCount(0);
});

test('the edition from the relay’s folder, with the older policies, is paired by a string', async ({
  closing,
}) => {
  const machine = await Machine.open(closing);
  const plain = await openRelay(closing);
  const { id, updates } = await serveExtension(closing, plain.extension);
  await plain.stop();
  await machine.policy({ settings: { extensionIds: [id] } });
  const relay = await openRelay(closing, {}, { program: machine.tabrelay });
  await machine.browserPolicy({
    ...inspected,
    ExtensionInstallBlocklist: ['*'],
    ExtensionInstallAllowlist: [id],
    ExtensionInstallForcelist: [`${id};${updates}`],
  });
  const browser = await openManagedBrowser(machine, await temporaryFolder('profile', closing), closing);
  const panel = await openPanel(browser);
  await panel.getByRole('textbox', { name: /pairing string/i }).fill((await relay.person('pair')).trim());
  await panel.getByRole('button', { name: 'Pair', exact: true }).click();
  await expect.poll(() => relay.browsers()).toBe(1);
});
