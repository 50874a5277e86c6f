// No agent ever gets a stack trace, a path of the machine or a secret, whatever fails. Every byte that comes to an
// agent is read for them: texts, _meta, structured content, log messages, notifications, stderr.

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { repository } from '../stage/paths.ts';
import { testPlugin } from '../stage/plugin.ts';
import { expect, openStage, test } from '../stage/test.ts';
import { openWire } from '../stage/wire.ts';

const leaks = ['stack', 'unix', 'windows', 'url', 'bearer', 'cookie', 'key', 'node', 'go'];

test('nothing that must stay here reaches an agent', async ({ closing }) => {
  const stage = await openStage(closing, {
    async beforeBrowser(relay) {
      const demo = JSON.parse(await readFile(path.join(relay.home, 'config.json'), 'utf8')).demo.listen;
      await relay.tabrelay('plugin', 'add', await testPlugin('leaky', `http://${demo}`, closing));
    },
  });
  const { relay } = stage;
  const wire = await openWire(relay, closing);
  const places = [relay.home, `${homedir()}/`, repository];
  const call = (name: string, args: Record<string, unknown>) =>
    wire.ask('tools/call', { name, arguments: args, _meta: { progressToken: name } });

  for (const what of leaks) {
    await call('leaky__throw_error', { what });
    await call('leaky__throw_tool_error', { what });
  }
  await call('leaky__take_secret', { password: 'leak-pw-1' });
  await call('leaky__take_secret', { password: 'leak-pw-22', apiKey: 'leak-key-0123' });
  await call('leaky__take_secret', { password: 7, 'leak-member': 'leak-value-0123' });
  await call('leaky__wrong_output', {});
  await call('trouble__throw_forged', { forgery: 'secret_fields' });
  await call('demo__hello', { tabId: 'leak-tab' });
  await call('demo__hello', { profile: 'nobody' });
  await call('bridge_health', {});
  await wire.ask('tools/call', { name: 'relay__doctor', arguments: {} });
  await wire.ask('tools/call', { name: 'relay__dead_letters', arguments: {} });
  await wire.ask('resources/list');
  for (const uri of [
    'file:///etc/passwd',
    'file:///srv/leak',
    'events://recent',
    'deadletter://x',
    'result://x',
  ])
    await wire.ask('resources/read', { uri });
  await wire.ask('prompts/get', { name: 'nosuch' });
  await wire.ask('nosuch', {});
  wire.send('{"jsonrpc":"2.0","id":');
  await wire.ask('ping');

  const found = wire.received
    .split('\n')
    .filter(
      (line) => places.some((place) => line.includes(place)) || forbidden.some((shape) => shape.test(line)),
    )
    .map((line) => line.slice(0, 1500));
  expect(found).toEqual([]);
  // The bytes were there to be read: each of these calls failed with words of its own.
  expect(wire.received.match(/\[ERROR code=/g)?.length).toBeGreaterThan(leaks.length * 2);
});

/** What no line may have in it. What the agent itself sent may come back: it is no secret from it. */
const forbidden = [
  /leak-(ada|shop|pass1|query1|cookie|app|output)/,
  /leak\.bearer|leak0123456789|leak(Frame|Other)/,
  /\\n\s+at \S/,
  /goroutine \d+ \[/,
  /\.go:\d+/,
  /[a-z-]+-extension:\/\/[a-p]{32}/,
  /"stack"/,
];
