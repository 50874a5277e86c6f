// Pages that forbid everything, or replace everything. A plugin runs in one of two worlds; both hold.

import { z } from 'zod';
import { openHostileSite } from '../sites/hostile.ts';
import { extensionId } from '../stage/browser.ts';
import { mainWorldPlugin } from '../stage/plugin.ts';
import { freePort } from '../stage/port.ts';
import stageTest, { expect, openStage, type Stage, visit } from '../stage/test.ts';

interface HostileStage extends Stage {
  /** Origin of the hostile pages. */
  site: string;
  /** Folder of a main-world plugin that works on them. */
  plugin: string;
}

const test = stageTest.extend<{ hostile: HostileStage }>({
  hostile: async ({ closing }, use) => {
    const demo = `http://127.0.0.1:${await freePort()}`;
    const site = await openHostileSite(demo, closing);
    const plugin = await mainWorldPlugin(site, closing);
    const plugins = { demo: { urlPatterns: [`${site}/*`] } };
    await use({ ...(await openStage(closing, { demo, plugins })), site, plugin });
  },
});

/** Adds the plugin, and waits until the browser runs it before the scripts of a page that is opened. */
async function addPlugin(hostile: HostileStage): Promise<void> {
  const { agent, page, plugin, relay, site } = hostile;
  await relay.tabrelay('plugin', 'add', plugin);
  await visit(hostile, `${site}/pages/tea`);
  const trust = async () => {
    await page.reload();
    return (await agent.call('main-world__read_title')).meta['tabrelay/call'];
  };
  await expect.poll(trust).not.toHaveProperty('trust');
}

test.describe('a page whose policy allows no script and demands Trusted Types', () => {
  test('an isolated plugin works, its requests included', async ({ hostile }) => {
    const { agent, site, demo } = hostile;
    await visit(hostile, `${site}/hostile/csp`);
    expect((await agent.call('demo__hello')).value).toMatchObject({ page: 'Strict policy' });
    expect((await agent.call('demo__counter_increment', { name: 'csp' })).value).toMatchObject({ asked: 1 });
    expect((await demo.counter('csp')).asked).toBe(1);
  });

  test('a main-world plugin works', async ({ hostile }) => {
    const { agent, site } = hostile;
    await addPlugin(hostile);
    await visit(hostile, `${site}/hostile/csp`);
    expect((await agent.call('main-world__read_title')).value).toEqual({ title: 'Strict policy' });
  });
});

test.describe('a page that replaces every global it can find', () => {
  test('an isolated plugin does not notice', async ({ hostile }) => {
    const { agent, site, demo } = hostile;
    await visit(hostile, `${site}/hostile/globals`);
    expect((await agent.call('demo__hello')).value).toMatchObject({ page: 'Replaced globals' });
    expect((await agent.call('demo__counter_increment', { name: 'globals' })).value).toMatchObject({
      asked: 1,
    });
    expect((await demo.counter('globals')).asked).toBe(1);
    expect(
      (await agent.call('demo__throw_tool_error', { factory: 'rate_limited' })).pageFields,
    ).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 2000,
    });
  });

  test('a main-world plugin reaches the page, and its answer reaches the agent', async ({ hostile }) => {
    const { agent, site } = hostile;
    await addPlugin(hostile);
    await visit(hostile, `${site}/hostile/globals`);
    const answer = await agent.call('main-world__read_secret');
    expect(answer.value).toEqual({ secret: 'kept by the page' });
    expect(answer.meta['tabrelay/call']).not.toHaveProperty('trust');
    expect((await agent.call('main-world__refuse')).pageFields).toEqual({
      code: 'NOT_FOUND',
      category: 'not_found',
      retryable: false,
    });
  });
});

test('a tab older than a main-world plugin is served, and marked', async ({ hostile }) => {
  const { agent, relay, page, site, plugin } = hostile;
  await visit(hostile, `${site}/pages/tea`);
  await relay.tabrelay('plugin', 'add', plugin);
  const answer = await agent.call('main-world__read_title');
  expect(answer.value).toEqual({ title: 'How to make tea · tabrelay demo' });
  expect(answer.meta['tabrelay/call']).toMatchObject({ trust: 'late' });
  // Chrome takes a new plugin's script a moment after the extension has it.
  const reloaded = async () => {
    await page.reload();
    return (await agent.call('main-world__read_title')).meta['tabrelay/call'];
  };
  await expect.poll(reloaded).not.toHaveProperty('trust');
});

test.describe('a page that looks for everything, and offers itself in its place', () => {
  /** What the page saw of ours. */
  async function lootOf({ page }: HostileStage): Promise<string[]> {
    const seen = z.string().parse(await page.evaluate(() => Reflect.get(globalThis, 'seen')()));
    // What it sent itself comes back to it: names of plugins and the word "forged".
    return seen
      .split('\n')
      .filter((line) => !/forged|fffff|__playwright|"isTrusted"/i.test(line) || /^(taken|loaded)/.test(line))
      .filter((line) => !/^heard tabrelay:\w+ null$/.test(line)) // its own events
      .filter((line) =>
        /tabrelay|taken|loaded|kept by the page|counter|idempotency|^field|^chrome|^bridge|^port|e2e/i.test(
          line,
        ),
      );
  }

  test('an isolated plugin: nothing to see, nothing to forge', async ({ hostile }) => {
    const { agent, browser, demo, page, site } = hostile;
    await visit(hostile, `${site}/hostile/attacker`);
    await page.evaluate((id) => Reflect.get(globalThis, 'embed')(id), await extensionId(browser));
    const answer = await agent.call('demo__counter_increment', { name: 'attacker' });
    expect(answer.value).toMatchObject({ asked: 1 });
    expect((await demo.counter('attacker')).asked).toBe(1);
    expect(await lootOf(hostile)).toEqual([]);
    // What an agent does there is marked, and the page cannot read who it is.
    expect(await page.content()).not.toContain('e2e');
    expect(page.frames().filter((frame) => frame.url().startsWith('chrome-extension://'))).toEqual([]);
  });

  test('a main-world plugin: nothing to see, nothing to forge', async ({ hostile }) => {
    const { agent, site } = hostile;
    await addPlugin(hostile);
    await visit(hostile, `${site}/hostile/attacker`);
    const answer = await agent.call('main-world__read_title');
    expect(answer.value).toMatchObject({ title: expect.stringContaining('FORGED') });
    expect(answer.meta['tabrelay/call']).not.toHaveProperty('trust');
    expect((await agent.call('main-world__refuse')).pageFields).toEqual({
      code: 'NOT_FOUND',
      category: 'not_found',
      retryable: false,
    });
    expect(await lootOf(hostile)).toEqual([]);
  });

  test('a failure says what the tool said, however loud the page is', async ({ hostile }) => {
    const { agent, site } = hostile;
    await visit(hostile, `${site}/hostile/attacker`);
    const answer = await agent.call('demo__throw_tool_error', { factory: 'rate_limited' });
    expect(answer.pageFields).toMatchObject({
      code: 'RATE_LIMITED',
      category: 'rate_limit',
      retryAfterMs: 2000,
    });
    expect(answer.text.match(/^\[ERROR /gm)).toHaveLength(1);
    expect(answer.text.match(/^```/gm)).toHaveLength(2);
    expect(answer.texts.join('').length).toBeLessThan(12_000);
    const { consoleTail = '' } = z
      .object({ consoleTail: z.string().optional() })
      .parse(answer.meta['tabrelay/error']);
    expect(Buffer.byteLength(consoleTail)).toBeLessThanOrEqual(4096);
  });

  test('its title is data: capped, on one line, and without characters that turn it', async ({ hostile }) => {
    const { agent, site } = hostile;
    await visit(hostile, `${site}/hostile/attacker`);
    const { resources } = await agent.client.listResources();
    for (const { name, title = '', description = '' } of resources)
      for (const text of [name, title, description]) {
        expect(text.length).toBeLessThan(2000);
        expect(text).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }
  });
});

test('a service worker of the page answers no request of an isolated plugin', async ({ hostile }) => {
  const { agent, demo, page, site } = hostile;
  await visit(hostile, `${site}/pages/tea`);
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/hostile/thief.js', { scope: '/' });
    await navigator.serviceWorker.ready;
  });
  await page.reload();
  expect(await page.evaluate(async () => (await fetch('/api/counters/thief')).json())).toMatchObject({
    asked: 666,
  });
  expect((await agent.call('demo__counter_increment', { name: 'thief' })).value).toMatchObject({ asked: 1 });
  expect((await demo.counter('thief')).asked).toBe(1);
});
