// Several agents and several browser profiles on one relay, with desks that say whose they are.

import type { BrowserContext, Page } from '@playwright/test';
import { z } from 'zod';
import { type DeskSite, openDeskSite } from '../sites/desk.ts';
import { type Agent, stdioAgent } from './agent.ts';
import { openBrowser } from './browser.ts';
import type { Closing } from './closing.ts';
import { temporaryFolder } from './paths.ts';
import { testPlugin } from './plugin.ts';
import { openRelay, type Relay } from './relay.ts';
import { expect } from './test.ts';

const Owner = z.object({ client: z.string(), session: z.string(), name: z.string(), since: z.string() });
const OpenTab = z.object({
  profileId: z.string(),
  profile: z.string(),
  tabId: z.number(),
  url: z.string(),
  active: z.boolean(),
  discarded: z.boolean(),
  owner: Owner.nullable(),
});
const Tabs = z.object({ tabs: z.array(OpenTab) });

export type OpenTab = z.infer<typeof OpenTab>;

/** What a tool of the desk plugin answers. */
export const Place = z.object({ desk: z.string(), account: z.string() });

/** A browser profile that is signed in as one account. */
export class Profile {
  readonly account: string;
  readonly folder: string;
  context: BrowserContext;
  id = '';

  constructor(account: string, folder: string, context: BrowserContext) {
    this.account = account;
    this.folder = folder;
    this.context = context;
  }
}

export class Desks {
  readonly closing: Closing;
  readonly relay: Relay;
  readonly site: DeskSite;

  private constructor(closing: Closing, relay: Relay, site: DeskSite) {
    this.closing = closing;
    this.relay = relay;
    this.site = site;
  }

  static async open(
    closing: Closing,
    config: Record<string, unknown> = {},
    beforeBrowser?: (relay: Relay) => Promise<void>,
  ): Promise<Desks> {
    const site = await openDeskSite(closing);
    const relay = await openRelay(closing, { demo: { listen: '' }, ...config }, { owned: true });
    await relay.tabrelay('plugin', 'add', await testPlugin('desk', site.url, closing));
    await beforeBrowser?.(relay);
    return new Desks(closing, relay, site);
  }

  /** An agent on stdio whose client has that name. */
  agent(client: string): Promise<Agent> {
    return stdioAgent(this.relay, this.closing, ['--client', client]);
  }

  /** Opens a browser, signs it in, and opens desks in it. */
  async profile(account: string, ...desks: string[]): Promise<Profile> {
    const folder = await temporaryFolder('profile', this.closing);
    const profile = new Profile(account, folder, await openBrowser(this.relay, this.closing, folder));
    for (const desk of desks) await this.sit(profile, desk);
    profile.id = (await this.tab(desks[0] ?? '')).profileId;
    return profile;
  }

  /** Opens the browser of a profile again. */
  async reopen(profile: Profile, ...desks: string[]): Promise<void> {
    profile.context = await openBrowser(this.relay, this.closing, profile.folder);
    for (const desk of desks) await this.sit(profile, desk);
  }

  /** Opens a desk in a tab of its own. */
  async sit({ account, context }: Profile, desk: string): Promise<Page> {
    const blank = context.pages().find((page) => page.url() === 'about:blank');
    const page = blank ?? (await context.newPage());
    await page.goto(this.site.signIn(account, desk));
    await expect.poll(() => this.relay.tabs()).toContain(this.site.desk(desk));
    return page;
  }

  /** The tabs, as `tabrelay tabs --json` lists them. */
  async tabs(): Promise<OpenTab[]> {
    return Tabs.parse(JSON.parse(await this.relay.tabrelay('tabs', '--json'))).tabs;
  }

  /** The tab of a desk. */
  async tab(desk: string): Promise<OpenTab> {
    const tab = (await this.tabs()).find(({ url }) => url === this.site.desk(desk));
    if (tab === undefined) throw new Error(`no tab shows the desk ${desk}`);
    return tab;
  }

  /** Who owns the tab of a desk. Throws nothing, so that it can be polled while the tab is on its way. */
  async owner(desk: string): Promise<string | undefined> {
    const tab = (await this.tabs()).find(({ url }) => url === this.site.desk(desk));
    return tab === undefined ? 'no tab' : tab.owner?.name;
  }
}
