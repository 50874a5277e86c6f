// What an agent is listed: small at the start, more as sites are opened, and never less.

import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { stdioAgent } from '../stage/agent.ts';
import { openBrowser } from '../stage/browser.ts';
import { openRelay } from '../stage/relay.ts';
import { expect, test, visit } from '../stage/test.ts';
import { tokens } from '../stage/tokens.ts';

const gateway = ['relay__call_tool', 'relay__describe_tool', 'relay__search_tools'];

test('a plugin is listed once its site is open, and stays', async ({ sharedStage: stage, closing }) => {
  const { relay, demo, page } = stage;
  await page.goto('about:blank');
  await expect.poll(() => relay.tabs(), { message: 'no site is open' }).toEqual([]);
  const agent = await stdioAgent(relay, closing);
  let told = 0;
  agent.client.setNotificationHandler(ToolListChangedNotificationSchema, () => void told++);
  const before = await agent.tools();
  expect(before).toEqual(expect.arrayContaining(['bridge_health', 'browser__list_tabs', ...gateway]));
  expect(before.filter((name) => !/^(bridge_health|browser__|relay__)/.test(name))).toEqual([]);
  const gone = await agent.call('demo__hello');
  expect(gone.code, 'what is not listed can be called').toBe('TAB_NOT_FOUND');

  await visit(stage, `${demo.url}/`);
  await expect.poll(() => told).toBe(1);
  expect(await agent.tools()).toEqual(expect.arrayContaining([...before, 'demo__hello']));
  expect((await agent.call('demo__hello')).failed).toBe(false);

  await page.goto('about:blank');
  await expect.poll(() => relay.tabs()).toEqual([]);
  expect(await agent.tools(), 'nothing is taken away').toContain('demo__hello');
  await visit(stage, `${demo.url}/`);
  const later = await stdioAgent(relay, closing);
  await expect.poll(() => later.tools()).toContain('demo__hello');
  expect(told, 'nobody is told twice').toBe(1);
});

test('what is not listed is found and called through the gateway', async ({
  sharedStage: { relay },
  closing,
}) => {
  const agent = await stdioAgent(relay, closing, ['--toolset', 'gateway']);
  expect(await agent.tools()).toEqual(expect.arrayContaining(['bridge_health', ...gateway]));
  const found = await agent.call('relay__search_tools', { query: 'say hello' });
  expect(found.text).toContain('demo__hello');
  const answer = await agent.call('relay__call_tool', { name: 'demo__hello', arguments: { name: 'Ada' } });
  expect(answer.value).toMatchObject({ greeting: expect.stringContaining('Hello, Ada!') });
});

test('profile is an argument once several are connected', async ({ closing }) => {
  const relay = await openRelay(closing);
  await openBrowser(relay, closing);
  await expect.poll(() => relay.browsers()).toBe(1);
  const agent = await stdioAgent(relay, closing, ['--toolset', 'demo']);
  const hello = async () =>
    (await agent.client.listTools()).tools.find((tool) => tool.name === 'demo__hello')?.inputSchema
      .properties ?? {};
  expect(Object.keys(await hello())).toEqual(['name', 'tabId']);
  await openBrowser(relay, closing);
  await expect.poll(() => relay.browsers()).toBe(2);
  await expect.poll(async () => Object.keys(await hello())).toEqual(['name', 'tabId', 'profile']);
});

test("the browser's own tools cost at most 1,700 tokens", async ({ sharedStage: { relay }, closing }) => {
  const agent = await stdioAgent(relay, closing, ['--toolset', 'browser']);
  const { tools } = await agent.client.listTools();
  const costs = tools
    .filter(({ name }) => name.startsWith('browser__'))
    .map(({ name, description = '', inputSchema }) =>
      [name, description, JSON.stringify(inputSchema)].reduce((sum, text) => sum + tokens(text), 0),
    );
  expect(costs.length).toBeGreaterThan(12);
  expect(costs.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(1700);
});

test('health that is well costs little, and everything is there when asked for', async ({ sharedStage }) => {
  const { agent } = sharedStage;
  const well = await agent.call('bridge_health');
  expect(tokens(well.text)).toBeLessThanOrEqual(40);
  const pulse = {
    healthy: true,
    state: 'full',
    agents: { total: 0, ready: 0 },
    sessions: { active: 0, capacity: expect.any(Number) },
    uptime: expect.any(Number),
  };
  expect(well.value).toEqual(pulse);
  expect((await agent.call('bridge_health', { details: true })).value).toMatchObject({
    ...pulse,
    extension: { connected: true },
    browsers: expect.arrayContaining([expect.objectContaining({ connected: true })]),
    breakers: expect.any(Array),
    problems: [],
  });
});
