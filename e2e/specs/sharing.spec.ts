// Any number of clients share one relay, and none of them is needed by the others.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Agent, stdioAgent } from '../stage/agent.ts';
import { openBrowser, stopWorker } from '../stage/browser.ts';
import { Desks, type Profile } from '../stage/desks.ts';
import { Mixed, Walker } from '../stage/mixed.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { Relay } from '../stage/relay.ts';
import { expect, test } from '../stage/test.ts';

interface Sharing {
  relay: Relay;
  agents: [Agent, Agent, Agent];
}

/** Three agents that start at once where no relay runs, and one browser. */
const sharing = test.extend<{ sharing: Sharing }>({
  sharing: async ({ closing }, use) => {
    const relay = new Relay(await temporaryFolder('home', closing));
    const demo = `127.0.0.1:${await freePort()}`;
    await relay.configure({ listen: '127.0.0.1:0', demo: { listen: demo } });
    closing.defer(() => relay.tabrelay('down'));
    const agents = await Promise.all([
      stdioAgent(relay, closing),
      stdioAgent(relay, closing),
      stdioAgent(relay, closing),
    ]);
    const browser = await openBrowser(relay, closing);
    const page = browser.pages()[0] ?? (await browser.newPage());
    await page.goto(`http://${demo}`);
    await expect.poll(() => relay.tabs()).toContain(`http://${demo}/`);
    await use({ relay, agents });
  },
});

sharing('three agents that start at once share one relay', async ({ sharing: { relay, agents } }) => {
  const answers = await Promise.all(
    agents.map((agent) => agent.call('demo__counter_increment', { name: 'shared' })),
  );
  expect(answers.map((answer) => answer.failed)).toEqual([false, false, false]);
  expect((await agents[0].call('demo__counter_read', { name: 'shared' })).value).toMatchObject({ asked: 3 });
  const log = await readFile(path.join(relay.home, 'relay.log'), 'utf8');
  expect(log.match(/listening/g)).toHaveLength(1);
});

for (const victim of [0, 1, 2]) {
  sharing(`killing agent ${victim + 1} leaves the others working`, async ({ sharing: { relay, agents } }) => {
    const before = await relay.announced();
    process.kill(agents[victim]?.pid ?? 0, 'SIGKILL');
    const left = agents.filter((_, index) => index !== victim);
    for (const agent of left) expect((await agent.call('demo__hello')).failed).toBe(false);
    expect(await relay.announced()).toEqual(before);
  });
}

sharing(
  'killing the relay itself: every agent goes on with the next one',
  async ({ sharing: { relay, agents } }) => {
    const before = await relay.announced();
    process.kill(before?.pid ?? 0, 'SIGKILL');
    const answers = await Promise.all(agents.map((agent) => agent.call('demo__hello')));
    expect(answers.map((answer) => answer.failed)).toEqual([false, false, false]);
    expect((await relay.announced())?.pid).not.toBe(before?.pid);
  },
);

/** How long the mixed calls go on. The long run: E2E_MIXED_MINUTES=10 */
const mixedMs = 60_000 * Number(process.env.E2E_MIXED_MINUTES ?? 1 / 3);

/** Closes the tab of a desk and opens it again. */
async function closeTab(mixed: Mixed, desk: string): Promise<void> {
  const spot = mixed.spots.get(desk);
  if (spot === undefined) return;
  mixed.spots.set(desk, { ...spot, busy: true, tabId: 0 });
  mixed.closed++;
  const page = spot.profile.context.pages().find((one) => one.url() === mixed.desks.site.desk(desk));
  await page?.close();
  await mixed.after(10);
  await mixed.desks.sit(spot.profile, desk);
  mixed.closed++;
  await mixed.place(desk, spot.profile, spot.owner);
}

/** Closes a whole browser and opens it again, with its desks. */
async function closeProfile(mixed: Mixed, profile: Profile): Promise<void> {
  const theirs = Array.from(mixed.spots).filter(([, spot]) => spot.profile === profile);
  for (const [desk, spot] of theirs) mixed.spots.set(desk, { ...spot, busy: true, tabId: 0 });
  mixed.closed++;
  await profile.context.close();
  await mixed.after(300);
  await mixed.desks.reopen(profile, ...theirs.map(([desk]) => desk));
  mixed.closed++;
  for (const [desk, { owner }] of theirs) await mixed.place(desk, profile, owner);
}

test('two agents and two profiles with mixed calls: none in the wrong tab, profile or account', async ({
  closing,
}) => {
  test.setTimeout(mixedMs + 120_000);
  const desks = await Desks.open(closing);
  const home = await desks.profile('ada', 'h1', 'h2', 'h3');
  const work = await desks.profile('grace', 'w1', 'w2', 'w3');
  const mixed = new Mixed(desks);
  for (const desk of ['h1', 'h2', 'w3']) await mixed.place(desk, desk === 'w3' ? work : home, 'codex');
  for (const desk of ['w1', 'w2', 'h3']) await mixed.place(desk, desk === 'h3' ? home : work, 'claude-code');
  const walkers = [
    new Walker('codex', await desks.agent('codex'), mixed, 1),
    new Walker('claude-code', await desks.agent('claude-code'), mixed, 2),
  ];
  const end = Date.now() + mixedMs;
  const going = Promise.all(walkers.map((walker) => walker.walk()));
  const troubles = [
    () => stopWorker(home.context),
    () => closeTab(mixed, 'h2'),
    () => stopWorker(work.context),
    () => closeProfile(mixed, work),
    () => closeTab(mixed, 'w1'),
  ];
  for (let round = 0; Date.now() < end || round < troubles.length; round++) {
    await mixed.after(40);
    await troubles[round % troubles.length]?.();
  }
  await mixed.after(40);
  mixed.over = true;
  await going;
  mixed.audit();
  const counts = Object.fromEntries(Array.from(mixed.counts).sort());
  console.log(`${mixed.calls} calls: ${JSON.stringify(counts)}`);
  expect(mixed.wrong).toEqual([]);
  expect(mixed.counts.get('go write: TAB_OWNED')).toBeGreaterThan(0);
  expect(mixed.counts.get('stay read')).toBeGreaterThan(0);
});
