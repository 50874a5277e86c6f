// Pages that forbid everything, or replace everything. A plugin runs in one of two worlds; both hold.

import { z } from 'zod';
import { openHostileSite } from '../sites/hostile.ts';
import { extensionId } from '../stage/browser.ts';
import { Closing } from '../stage/closing.ts';
import { mainWorldPlugin, testPlugin } from '../stage/plugin.ts';
import { freePort } from '../stage/port.ts';
import stageTest, { expect, openStage, type Stage, visit } from '../stage/test.ts';

const token = 'a-token-nobody-else-reads';

interface HostileStage extends Stage {
  /** Origin of the hostile pages. */
  site: string;
}

const test = stageTest.extend<object, { hostile: HostileStage }>({
  hostile: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const hostile = await openHostileStage(closing);
      await hostile.relay.tabrelay('plugin', 'add', await testPlugin('keeper', hostile.site, closing));
      await hostile.relay.tabrelay('plugin', 'add', await mainWorldPlugin(hostile.site, closing));
      await visit(hostile, `${hostile.site}/pages/tea`);
      await expectEarly(hostile);
      await use(hostile);
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

async function openHostileStage(closing: Closing): Promise<HostileStage> {
  const demo = `http://127.0.0.1:${await freePort()}`;
  const site = await openHostileSite(demo, closing);
  const there = { urlPatterns: [`${site}/*`] };
  const plugins = { demo: there, trouble: there, keeper: { settings: { token } } };
  return { ...(await openStage(closing, { demo, plugins })), site };
}

/** Waits until the browser runs main-world plugins before the scripts of a page that is opened. */
async function expectEarly({ agent, page }: Stage): Promise<void> {
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
      (await agent.call('trouble__throw_tool_error', { factory: 'rate_limited' })).pageFields,
    ).toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: 2000,
    });
  });

  test('a main-world plugin reaches the page, and its answer reaches the agent', async ({ hostile }) => {
    const { agent, site } = hostile;
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

test('a tab older than a main-world plugin is served, and marked', async ({ closing }) => {
  const stage = await openHostileStage(closing);
  await visit(stage, `${stage.site}/pages/tea`);
  await stage.relay.tabrelay('plugin', 'add', await mainWorldPlugin(stage.site, closing));
  const answer = await stage.agent.call('main-world__read_title');
  expect(answer.value).toEqual({ title: 'How to make tea · tabrelay demo' });
  expect(answer.meta['tabrelay/call']).toMatchObject({ trust: 'late' });
  await expectEarly(stage);
});

test.describe('requests of a main-world plugin', () => {
  const body = JSON.stringify({ token });
  const read = { method: 'GET', token, body: '' };
  const sent = {
    read,
    text: JSON.stringify(read),
    saved: { method: 'POST', token: null, body },
    form: { method: 'POST', token: null, body: `token=${token}` },
  };

  test('a page that replaces all they are made of sees no token and forges no answer', async ({
    hostile,
  }) => {
    const { agent, page, site } = hostile;
    await visit(hostile, `${site}/hostile/impostor`);
    const answer = await agent.call('keeper__send_token');
    expect(answer.value).toEqual(sent);
    expect(answer.meta['tabrelay/call']).not.toHaveProperty('trust');
    // The page's own request shows that it does see what goes through its functions.
    await page.evaluate(`void fetch('/hostile/echo', { headers: { 'x-token': 'of the page' } })`);
    const seen = page.locator('html');
    await expect(seen).toHaveAttribute('data-seen', /fetch: .*of the page/);
    await expect(seen).not.toHaveAttribute('data-seen', new RegExp(token));
  });

  test('they work where every function of the page throws', async ({ hostile }) => {
    const { agent, site } = hostile;
    await visit(hostile, `${site}/hostile/globals`);
    expect((await agent.call('keeper__send_token')).value).toEqual(sent);
  });

  for (const does of ['forge', 'stall'])
    test(`none is sent where a then on answers could ${does} them`, async ({ hostile }) => {
      const { agent, site } = hostile;
      await visit(hostile, `${site}/hostile/hung?then=Response&does=${does}`);
      expect((await agent.call('keeper__use_token')).value).toEqual({ characters: token.length });
      const refused = await agent.call('keeper__send_token');
      expect(refused.code, refused.text).toBe('INVALID_OUTPUT');
      expect(refused.facts.outcome).toBe('not_executed');
    });
});

for (const owner of ['Object', 'Function'])
  for (const does of ['forge', 'stall'])
    test(`a then on all that is a ${owner} could ${does} answers: plain ones are left, promised ones refused`, async ({
      hostile,
    }) => {
      const { agent, site } = hostile;
      await visit(hostile, `${site}/hostile/hung?then=${owner}&does=${does}`);
      expect((await agent.call('main-world__say_at_once')).value).toEqual({ said: [1, 2] });
      const async = await agent.call('main-world__read_title');
      expect(async.code, async.text).toBe('INVALID_OUTPUT');
      expect(async.facts.outcome).toBe('not_executed');
      const promised = await agent.call('main-world__say_later');
      expect(promised.code, promised.text).toBe('INVALID_OUTPUT');
      expect((await agent.call('demo__hello')).value).toMatchObject({ page: 'Hung' });
    });

test('a toJSON on all data is taken away for an answer, and one that cannot be is refused', async ({
  hostile,
}) => {
  const { agent, site } = hostile;
  await visit(hostile, `${site}/hostile/hung?toJSON=Object`);
  expect((await agent.call('main-world__say_at_once')).value).toEqual({ said: [1, 2] });
  expect((await agent.call('main-world__read_title')).value).toEqual({ title: 'Hung' });
  await visit(hostile, `${site}/hostile/hung?toJSON=Object&fixed=yes`);
  for (const tool of ['say_at_once', 'read_title']) {
    const refused = await agent.call(`main-world__${tool}`);
    expect(refused.code, refused.text).toBe('INVALID_OUTPUT');
  }
  expect((await agent.call('demo__hello')).value).toMatchObject({ page: 'Hung' });
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
    const answer = await agent.call('trouble__throw_tool_error', { factory: 'rate_limited' });
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
  await page.evaluate(async () => {
    for (const worker of await navigator.serviceWorker.getRegistrations()) await worker.unregister();
  });
});
