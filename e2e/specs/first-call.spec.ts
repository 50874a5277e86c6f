// The path of one call, from the agent to the page and back, over both transports.

import { httpAgent, stdioAgent } from '../stage/agent.ts';
import { binary } from '../stage/paths.ts';
import { start } from '../stage/process.ts';
import { expect, test } from '../stage/test.ts';

test('an agent lists the tools and calls one in the page', async ({ sharedStage: { agent, demo } }) => {
  const tools = await agent.tools();
  expect(tools).toEqual(expect.arrayContaining(['demo__hello', 'demo__counter_increment']));
  expect(tools, 'its site is not open').not.toContain('mediawiki__edit_page');
  const answer = await agent.call('demo__hello', { name: 'Ada' });
  expect(answer.value).toEqual({
    greeting: 'Hello, Ada! This answer comes from a page in your own browser.',
    page: 'tabrelay demo',
    url: `${demo.url}/`,
  });
  expect(answer.structured).toEqual(answer.value);
  expect(answer.meta['tabrelay/call']).toMatchObject({ origin: demo.url, attempts: 1 });
});

test('the same over HTTP with a token', async ({ sharedStage: { relay, demo }, closing }) => {
  const agent = await httpAgent(relay, await relay.token(), closing);
  expect(await agent.tools()).toContain('demo__hello');
  expect((await agent.call('demo__hello')).value).toMatchObject({ url: `${demo.url}/` });
  expect((await agent.call('trouble__throw_tool_error', { factory: 'rate_limited' })).pageFields).toEqual({
    code: 'RATE_LIMITED',
    category: 'rate_limit',
    retryable: true,
    retryAfterMs: 2000,
  });
});

test('tools say what they do to the world', async ({ sharedStage: { relay }, closing }) => {
  const all = await stdioAgent(relay, closing, ['--toolset', 'all']);
  const { tools } = await all.client.listTools();
  const hello = tools.find((tool) => tool.name === 'demo__hello');
  const edit = tools.find((tool) => tool.name === 'mediawiki__edit_page');
  expect(hello?.annotations).toMatchObject({ readOnlyHint: true });
  expect(edit?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  expect(hello?.outputSchema).toMatchObject({ required: ['greeting', 'page', 'url'] });
  expect(hello?.inputSchema.properties, 'profile is listed where several are connected').toEqual({
    name: { type: 'string', description: 'Who to greet.' },
    tabId: { type: 'integer' },
  });
});

test('the same tools from a shell', async ({ sharedStage: { relay } }) => {
  expect(JSON.parse(await relay.tabrelay('call', 'demo__get_page', '{"slug":"tea"}'))).toMatchObject({
    title: 'How to make tea',
  });
  await expect(relay.tabrelay('call', 'demo__get_page', '{"slug":"coffee"}')).rejects.toThrow(/NOT_FOUND/);
});

test('--trace shows every hop of a call, in the order of time', async ({ sharedStage: { relay } }) => {
  const traced = async (tool: string, args: object) => {
    const command = start(binary, ['call', tool, JSON.stringify(args), '--trace', '--json'], relay.env);
    expect(await command.ended, command.output()).toBe(0);
    const { trace }: { trace: { ms: number; step: string }[] } = JSON.parse(command.printed());
    const times = trace.map(({ ms }) => ms);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    return trace.map(({ step }) => step);
  };
  const around = (middle: unknown[]) => [
    'the command begins',
    'the command asks the relay',
    'the relay has the call',
    expect.stringMatching(/^tool found/),
    expect.stringMatching(/^tab \d+ of profile/),
    'allowed; sent as attempt 1',
    ...middle,
    'the extension sends the outcome',
    'the relay has the outcome',
    'answered',
    'result checked',
    'the relay answers',
    'the command has the answer',
  ];
  const handler = ['its handler starts', 'its handler has ended'];
  expect(await traced('demo__hello', {})).toEqual(
    around([
      'sent to the browser',
      'the extension has it',
      'the page has the adapter',
      'the page is asked',
      ...handler,
      'the page has answered',
    ]),
  );
  expect(await traced('demo__counter_increment', {})).toEqual(
    around([
      'in the journal, sent to the browser',
      'the extension has it',
      'the page has the adapter',
      'the extension has recorded the write',
      'the page is asked',
      ...handler,
      'the page has answered',
    ]),
  );
  const looked = await traced('browser__find', { text: 'tabrelay' });
  expect(looked).toContainEqual(expect.stringMatching(/^the page is asked \(\w+\)$/));
});
