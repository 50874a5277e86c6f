// A plugin that is updated, disabled or removed leaves every tab that is open, once, and no tab that is not.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { z } from 'zod';
import { mainWorldPlugin } from '../stage/plugin.ts';
import { expect, openStage, test, visit } from '../stage/test.ts';

const Tabs = z.object({ tabs: z.array(z.object({ tabId: z.number() })) });

// Its hooks count in the document, where both worlds can.
const source = (version: number) => `
import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
const count = (what: string) => {
  const { dataset } = document.documentElement;
  dataset[what] = String(Number(dataset[what] ?? 0) + 1);
};
const version = defineTool({
  name: 'version', description: 'Which version answers.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {} }, handle: () => ({ version: ${version} }),
});
export default definePlugin({
  tools: [version], onActivate: () => count('entered'), onDeactivate: () => count('left'),
  teardown: () => count('torn'),
});
`;

const counted = (page: Page) =>
  page.evaluate(() => {
    const { entered, left, torn } = document.documentElement.dataset;
    return [entered, left, torn].map((text) => Number(text ?? 0));
  });

for (const world of ['main', 'isolated'] as const) {
  test(`a plugin leaves each open tab once when it changes or goes (${world} world)`, async ({ closing }) => {
    const stage = await openStage(closing);
    const { agent, demo, relay, page: hidden } = stage;
    const folder = await mainWorldPlugin(demo.url, closing);
    const about = { displayName: 'Guest', urlPatterns: [`${demo.url}/*`], world };
    const content = { name: 'tabrelay-plugin-guest', version: '0.1.0', tabrelay: about };
    await writeFile(path.join(folder, 'package.json'), JSON.stringify(content));
    const offer = async (version: number) => {
      await writeFile(path.join(folder, 'src/index.ts'), source(version));
      await relay.tabrelay('plugin', 'add', folder);
    };
    const shown = await stage.browser.newPage();
    await shown.goto(demo.url);
    await visit(stage, demo.url);
    await shown.bringToFront();
    const pages = [hidden, shown];

    const callInEach = async (version: number) => {
      const { tabs } = Tabs.parse((await agent.call('browser__list_tabs')).value);
      expect(tabs).toHaveLength(2);
      await expect.poll(() => agent.tools()).toContain('guest__version');
      for (const { tabId } of tabs)
        await expect
          .poll(async () => (await agent.call('guest__version', { tabId })).said)
          .toEqual({ version });
    };
    const inEach = async (counts: number[]) => {
      for (const page of pages) await expect.poll(() => counted(page)).toEqual(counts);
    };

    await offer(1);
    await callInEach(1);
    await inEach([1, 0, 0]);
    await offer(2);
    await inEach([1, 1, 1]);
    await callInEach(2);
    await inEach([2, 1, 1]);
    await relay.tabrelay('plugin', 'remove', 'guest');
    await inEach([2, 2, 2]);
    await offer(2);
    await callInEach(2);
    await inEach([3, 2, 2]);
    await relay.tabrelay('config', 'set', 'plugins.guest.enabled', 'false');
    await inEach([3, 3, 3]);
    await relay.tabrelay('plugin', 'remove', 'guest');
    await expect.poll(() => relay.tabrelay('plugin', 'list')).not.toContain('guest');
    await shown.reload();
    expect(await counted(shown)).toEqual([0, 0, 0]);
    expect(await counted(hidden)).toEqual([3, 3, 3]);
  });
}
