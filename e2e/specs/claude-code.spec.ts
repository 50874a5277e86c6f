// Claude Code itself, connected the way a person connects it. It is large, so `make clients` installs it and `make test`
// does not; docs/decisions.md has the numbers.

import { existsSync } from 'node:fs';
import { claudeCode } from '../stage/outside.ts';
import { binary, temporaryFolder } from '../stage/paths.ts';
import { run } from '../stage/process.ts';
import { expect, test } from '../stage/test.ts';

test.skip(!existsSync(claudeCode), 'make clients installs Claude Code and runs this');

test('Claude Code lists the relay as connected, over stdio and over HTTP', async ({
  sharedStage,
  closing,
}) => {
  const { relay } = sharedStage;
  const home = await temporaryFolder('claude', closing);
  const env = { ...relay.env, HOME: home, CLAUDE_CONFIG_DIR: home };
  await run(binary, ['connect', 'claude-code'], env);
  closing.defer(() => run(binary, ['disconnect', 'claude-code'], env));
  await run(
    claudeCode,
    [
      ...['mcp', 'add', '-s', 'user', '--transport', 'http', 'relay-http', await relay.url('/mcp')],
      ...['--header', `Authorization: Bearer ${await relay.token()}`],
    ],
    env,
  );
  // Its exit code says nothing: what it prints counts.
  const listed = await run(claudeCode, ['mcp', 'list'], env);
  expect(listed).toMatch(/^tabrelay: .* mcp --client claude-code - ✔ Connected$/m);
  expect(listed).toMatch(/^relay-http: .*\/mcp \(HTTP\) - ✔ Connected$/m);
});
