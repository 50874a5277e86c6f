// What a person does to windows and profiles by hand while agents work: a profile is closed and opened again while the
// other one stays, windows are closed and opened, a tab is moved between windows, tabrelay is switched off and on.
// Chrome has a window and none of the flags of a test driver. The sites count how often each page was loaded: tools
// work again, and nobody has to reload anything.
import { z } from 'zod';
import { type Agent, stdioAgent } from '../stage/agent.ts';
import { openHands } from '../stage/hand.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { openRelay } from '../stage/relay.ts';
import { expect, test } from '../stage/test.ts';
import { makeProfile, openChrome, openCountingSite, openScreen } from '../stage/window.ts';

test.setTimeout(600_000);

const Tabs = z.object({ tabs: z.array(z.object({ tabId: z.number(), url: z.string() })) });

test('profiles, windows and tabs come and go by hand: nothing needs a reload', async ({ closing }) => {
  const relay = await openRelay(closing);
  const [home, work] = [await openCountingSite(closing, 'Home'), await openCountingSite(closing, 'Work')];
  const ann = await stdioAgent(relay, closing, ['--client', 'ann']);
  const ben = await stdioAgent(relay, closing, ['--client', 'ben']);
  closing.defer(() => relay.tabrelay('down'));
  const display = await openScreen(closing);
  const folder = await temporaryFolder('profile', closing);
  const hands = await openHands(closing);
  const extensions = [relay.extension, hands.folder];
  const chromeOf = (profile: string) => openChrome(extensions, folder, display, profile);

  /** The person's window of a profile: its hand, and a site in it. */
  const enter = async (profile: string, known: readonly string[]) => {
    const program = chromeOf(profile);
    return { program, ...(await hands.next(known)) };
  };
  for (const profile of ['Default', 'Profile 1']) await makeProfile(folder, profile);
  const first = await enter('Default', []);
  closing.defer(() => first.program.stop());
  await expect.poll(() => relay.browsers(), { timeout: 120_000 }).toBe(1);
  const second = await enter('Profile 1', [first.id]);
  await expect.poll(() => relay.browsers(), { timeout: 120_000 }).toBe(2);
  await first.hand.open(`${home.url}/`);
  await second.hand.open(`${work.url}/`);

  /** An agent reads and presses in the tab that shows a site, as soon as it can. */
  const works = async (agent: Agent, site: typeof home, page = '/') => {
    const tabId = async () => (await tabs()).find(({ url }) => url === site.url + page)?.tabId;
    await expect.poll(tabId, { timeout: 120_000 }).toBeDefined();
    const at = await tabId();
    await expect
      .poll(async () => (await agent.call('browser__snapshot', { tabId: at, full: true })).text, {
        timeout: 120_000,
      })
      .toContain(`This is ${site.name} ${page}.`);
    const pressed = await agent.call('browser__click', { tabId: at, ref: 'button "Press"' });
    expect(pressed.failed, pressed.text).toBe(false);
    expect(pressed.text).toContain('Pressed');
  };
  const tabs = async () => Tabs.parse(await relay.asPerson('GET', '/api/v1/tabs')).tabs;
  const loads = () => [home, work].map((site) => Object.fromEntries(site.loads));
  await works(ann, home);
  await works(ben, work);

  let hand = second;
  await test.step('a profile is closed and opened again, the other one stays', async () => {
    const kept = home.loads.get('/');
    const { tabId } = (await hand.hand.showing(work.url)) ?? {};
    for (const { id } of await hand.hand.windows()) await hand.hand.close(id);
    await expect.poll(() => relay.browsers(), { timeout: 120_000 }).toBe(1);
    const gone = await ben.call('browser__click', { tabId, ref: 'button "Press"' });
    expect(gone.facts.outcome, gone.text).toBe('not_executed');
    await works(ann, home);
    hand = await enter('Profile 1', [first.id, second.id]);
    await expect.poll(() => relay.browsers(), { timeout: 120_000 }).toBe(2);
    await works(ben, work); // in the tab that Chrome brought back
    await works(ann, home);
    expect(home.loads.get('/'), 'pages that were loaded again').toBe(kept);
  });
  let before = loads();
  await test.step('a tab is moved between windows', async () => {
    const there = await first.hand.showing(home.url);
    if (there === undefined) throw new Error('no window shows the site');
    await first.hand.open('about:blank'); // the window that it leaves is not the last one
    const torn = await first.hand.tear(there.tabId);
    await works(ann, home);
    const other = (await first.hand.windows()).find(({ id }) => id !== torn);
    if (other === undefined) throw new Error('there is one window only');
    expect(await first.hand.move(there.tabId, other.id)).toBe(other.id);
    await works(ann, home);
    expect(loads(), 'pages that were loaded again').toEqual(before);
  });
  await test.step('a window is closed, and another one opened', async () => {
    const window = await first.hand.open(`${home.url}/second`);
    await works(ann, home, '/second');
    await first.hand.close(window);
    await expect.poll(async () => (await tabs()).map(({ url }) => url)).not.toContain(`${home.url}/second`);
    await works(ann, home);
    await first.hand.open(`${home.url}/third`);
    await works(ann, home, '/third');
    expect(home.loads.get('/')).toBe(before[0]?.['/']);
  });
  before = loads();
  await test.step('tabrelay is switched off and on in one profile, the other one stays', async () => {
    await first.hand.enable(false);
    await expect.poll(() => relay.browsers(), { timeout: 120_000 }).toBe(1);
    await works(ben, work);
    await first.hand.enable(true);
    await expect.poll(() => relay.browsers(), { timeout: 120_000 }).toBe(2);
    await works(ann, home);
    await works(ann, home, '/third');
    await works(ben, work);
    expect(loads(), 'pages that were loaded again').toEqual(before);
  });
});
