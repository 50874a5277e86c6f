// A day of a person: three agents, four sites, Back and Forward, sleep, restarts of Chrome and of the relay, an upgrade.
// Chrome has a window and none of the flags of a test driver: nobody drives it but the agents, through the relay.
// The sites count how often each page was loaded: nothing needs a reload that the script of the day does not name.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import timers from 'node:timers/promises';
import { z } from 'zod';
import { type Agent, stdioAgent } from '../stage/agent.ts';
import type { Closing } from '../stage/closing.ts';
import { binary, temporaryFolder } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { start } from '../stage/process.ts';
import { openRelay } from '../stage/relay.ts';
import { expect, test } from '../stage/test.ts';
import { makeProfile, openChrome, openCountingSite, openScreen } from '../stage/window.ts';

test.setTimeout(900_000);

const sleepMs = 45_000; // longer than the relay and the extension wait for each other
const Tabs = z.object({ tabs: z.array(z.object({ tabId: z.number(), url: z.string() })) });

/** The next version of the program: its extension is another one, which differs in its hash. */
async function nextVersion(closing: Closing): Promise<string> {
  const now = await readFile(binary, 'latin1');
  const hash = /"hash":\s*"([0-9a-f]{64})"/.exec(now)?.[1];
  if (hash === undefined) throw new Error('the binary holds no extension');
  const file = path.join(await temporaryFolder('next', closing), 'tabrelay');
  await writeFile(file, now.replaceAll(hash, hash.split('').reverse().join('')), 'latin1');
  await chmod(file, 0o755);
  return file;
}

test('a day: nothing needs a reload', async ({ closing }) => {
  const demo = `http://127.0.0.1:${await freePort()}`;
  const relay = await openRelay(closing, { demo: { listen: new URL(demo).host } });
  const sites = await Promise.all(['One', 'Two', 'Three'].map((name) => openCountingSite(closing, name)));
  const agents = await Promise.all(
    ['ann', 'ben', 'cleo'].map((name) => stdioAgent(relay, closing, ['--client', name])),
  );
  closing.defer(() => relay.tabrelay('down')); // also one that an agent has started
  const display = await openScreen(closing);
  const profile = await temporaryFolder('profile', closing);
  await makeProfile(profile);
  let chrome = openChrome([relay.extension], profile, display);
  closing.defer(() => chrome.stop());
  await expect.poll(() => relay.browsers(), { timeout: 120_000 }).toBe(1);

  const tabOf = async (url: string): Promise<number> => {
    const { tabs } = Tabs.parse(JSON.parse(await relay.tabrelay('tabs', '--json')));
    const found = tabs.find((tab) => tab.url.startsWith(url));
    if (found === undefined) throw new Error(`no tab shows ${url}`);
    return found.tabId;
  };
  /** What an agent is answered, once relay and browser have found each other again. */
  const patient = async (agent: Agent, tool: string, args: () => Promise<Record<string, unknown>>) => {
    let text = '';
    await expect
      .poll(
        async () => {
          const answer = await args()
            .then((given) => agent.call(tool, given))
            .catch((why: unknown) => ({ failed: true, text: String(why) }));
          ({ text } = answer);
          return answer.failed ? text : '';
        },
        { timeout: 120_000 },
      )
      .toBe('');
    return text;
  };
  /** Each agent works at its site and at that of all. */
  const work = async (page = '/') => {
    for (const [i, { name, url }] of sites.entries()) {
      const agent = agents[i];
      if (agent === undefined) throw new Error('there are as many agents as sites');
      const there = async () => ({ tabId: await tabOf(url), full: true });
      expect(await patient(agent, 'browser__snapshot', there)).toContain(`This is ${name} ${page}.`);
      const press = async () => ({ tabId: await tabOf(url), ref: 'button "Press"' });
      expect(await patient(agent, 'browser__click', press)).toContain('Pressed');
      await patient(agent, 'demo__hello', async () => ({ tabId: await tabOf(demo) }));
    }
  };
  const loads = () => sites.map((site) => Object.fromEntries(site.loads));

  await test.step('morning: the sites are opened', async () => {
    for (const [i, url] of [demo, ...sites.map((site) => site.url)].entries())
      await agents[i % 3]?.call('browser__open_tab', { url: `${url}/` });
    await work();
  });
  await test.step('Back and Forward', async () => {
    for (const [i, { name, url }] of sites.entries()) {
      const go = async (to: string) => {
        const answer = await agents[i]?.call('browser__navigate', { to, tabId: await tabOf(url) });
        expect(answer?.failed, answer?.text).toBe(false);
      };
      await go(`${url}/next`);
      for (const [to, page] of [
        ['back', '/'],
        ['forward', '/next'],
        ['back', '/'],
      ] as const) {
        await go(to);
        const tabId = await tabOf(url);
        const seen = await agents[i]?.call('browser__snapshot', { tabId });
        expect(seen?.text).toContain(`This is ${name} ${page}.`);
      }
    }
    await work();
  });
  let before = loads();
  await test.step('the laptop sleeps', async () => {
    const pids = [-chrome.pid, (await relay.announced())?.pid ?? 0];
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await timers.setTimeout(sleepMs);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    await work();
    expect(loads(), 'pages that were loaded again').toEqual(before);
  });
  await test.step('the relay crashes', async () => {
    await relay.stop('SIGKILL'); // an agent starts the next one
    await work();
    expect(loads(), 'pages that were loaded again').toEqual(before);
  });
  await test.step('an upgrade, in the middle of it all', async () => {
    const next = await nextVersion(closing);
    await relay.tabrelay('down');
    const upgraded = start(next, ['serve'], relay.env);
    closing.defer(() => upgraded.stop());
    await work();
    expect(loads(), 'pages that were loaded again').toEqual(before);
  });
  await test.step('Chrome is closed and started again, with the tabs it had', async () => {
    await chrome.stop();
    chrome = openChrome([relay.extension], profile, display);
    await work();
    before = loads();
    await work();
    expect(loads(), 'pages that were loaded again').toEqual(before);
  });
});
