// Any number of clients share one relay, and none of them is needed by the others.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Agent, stdioAgent } from '../stage/agent.ts';
import { openBrowser } from '../stage/browser.ts';
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
