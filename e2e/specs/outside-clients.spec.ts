// Agents that people connect, each installed from the registry and connected the way a person connects it. They are
// large, so `make clients` installs them and `make test` does not; docs/decisions.md has the numbers.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { z } from 'zod';
import { openModel } from '../stage/model.ts';
import { claudeCode, codex, gemini, opencode } from '../stage/outside.ts';
import { binary, repository, temporaryFolder } from '../stage/paths.ts';
import { portOf } from '../stage/port.ts';
import { run, start } from '../stage/process.ts';
import { expect, test, visit } from '../stage/test.ts';

test.skip(!existsSync(claudeCode), 'make clients installs the agents and runs this');

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

test('Claude Code takes the marketplace and installs the plugin', async ({ closing }) => {
  const home = await temporaryFolder('claude', closing);
  const env = { HOME: home, CLAUDE_CONFIG_DIR: home };
  for (const folder of [repository, path.join(repository, 'packaging/claude-code')])
    expect(await run(claudeCode, ['plugin', 'validate', folder], env)).toContain('✔ Validation passed');
  await run(claudeCode, ['plugin', 'marketplace', 'add', repository], env);
  await run(claudeCode, ['plugin', 'install', 'tabrelay@tabrelay'], env);
  expect(await run(claudeCode, ['plugin', 'list'], env)).toMatch(/❯ tabrelay@tabrelay\n[^❯]*✔ enabled/);
});

test('Claude Code shows its model all of a long page, piece after piece', async ({
  sharedStage,
  closing,
}) => {
  const { relay } = sharedStage;
  const words = Array.from({ length: 20_000 }, (_, n) => `word${n}`).join(' ');
  const site = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end(`<title>Long</title><body><p>${words}</p>`);
  }).listen(0, '127.0.0.1');
  closing.defer(async () => void site.close());
  await once(site, 'listening');
  await visit(sharedStage, `http://127.0.0.1:${portOf(site.address())}/`);

  const home = await temporaryFolder('claude', closing);
  const env = { ...relay.env, HOME: home, CLAUDE_CONFIG_DIR: home };
  await run(binary, ['connect', 'claude-code'], env);
  closing.defer(() => run(binary, ['disconnect', 'claude-code'], env));
  const Piece = z.object({ text: z.string(), nextOffset: z.number().optional() });
  const model = await openModel(closing, ({ results }) => {
    const last = results.at(-1);
    const offset = last === undefined ? 0 : Piece.parse(JSON.parse(last.text)).nextOffset;
    if (offset === undefined) return { say: 'read' };
    return { tool: 'mcp__tabrelay__browser__read', input: { what: 'text', offset, maxChars: 100_000 } };
  });
  const said = await run(claudeCode, ['-p', 'Read the page.', '--allowedTools', 'mcp__tabrelay'], {
    ...env,
    ...{
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  });
  expect(said).toContain('read');
  expect(model.results.map((result) => Piece.parse(JSON.parse(result)).text).join('')).toBe(words);
  expect(model.results.length).toBeGreaterThan(3);
});

test('Claude Code is told of what was cut from an answer', async ({ sharedStage, closing }) => {
  const { relay } = sharedStage;
  const home = await temporaryFolder('claude', closing);
  const env = { ...relay.env, HOME: home, CLAUDE_CONFIG_DIR: home };
  await run(binary, ['connect', 'claude-code'], env);
  closing.defer(() => run(binary, ['disconnect', 'claude-code'], env));
  const model = await openModel(closing, ({ results }) =>
    results.length > 0
      ? { say: 'done' }
      : { tool: 'mcp__tabrelay__trouble__big_output', input: { bytes: 200_000 } },
  );
  await run(claudeCode, ['-p', 'Get it.', '--allowedTools', 'mcp__tabrelay'], {
    ...env,
    ...{
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  });
  const [result = ''] = model.results;
  expect(result.length).toBeLessThan(40_000);
  expect(result.slice(-700)).toMatch(
    /"truncated":true.*"nextOffset":\d+.*"more":\{"tool":"relay__read_result"/,
  );
});

test('Gemini CLI lists the relay as connected', async ({ sharedStage, closing }) => {
  const home = await temporaryFolder('gemini', closing);
  const env = { ...sharedStage.relay.env, HOME: home };
  await run(binary, ['connect', 'gemini'], env);
  closing.defer(() => run(binary, ['disconnect', 'gemini'], env));
  // It starts no server in a folder that its person has not trusted.
  await writeFile(
    path.join(home, '.gemini/trustedFolders.json'),
    JSON.stringify({ [process.cwd()]: 'TRUST_FOLDER' }),
  );
  const program = start(gemini, ['mcp', 'list'], env);
  await program.ended;
  expect(program.output()).toMatch(/✓.* tabrelay: .* mcp --client gemini \(stdio\) - Connected/);
});

test('opencode lists the relay as connected', async ({ sharedStage, closing }) => {
  const home = await temporaryFolder('opencode', closing);
  const env = { ...sharedStage.relay.env, HOME: home, XDG_CONFIG_HOME: path.join(home, '.config') };
  await run(binary, ['connect', 'opencode'], env);
  closing.defer(() => run(binary, ['disconnect', 'opencode'], env));
  const program = start(opencode, ['mcp', 'list'], env);
  await program.ended;
  expect(program.output()).toMatch(/✓.* tabrelay .*connected/);
});

test('Codex lists the tools of the relay', async ({ sharedStage, closing }) => {
  const home = await temporaryFolder('codex', closing);
  const env = { ...sharedStage.relay.env, HOME: home, CODEX_HOME: path.join(home, '.codex') };
  await run(binary, ['connect', 'codex'], env);
  closing.defer(() => run(binary, ['disconnect', 'codex'], env));
  expect(await run(codex, ['mcp', 'list'], env)).toMatch(/^tabrelay .* enabled /m);
  // Only its server for editors says what an MCP server offers. It speaks JSON-RPC, a line each.
  const ask = [
    { id: 0, method: 'initialize', params: { clientInfo: { name: 'proof', version: '1' } } },
    { method: 'initialized' },
    { id: 1, method: 'mcpServerStatus/list', params: {} },
  ];
  const program = start(codex, ['app-server'], env, ask.map((line) => `${JSON.stringify(line)}\n`).join(''));
  closing.defer(() => program.stop());
  await expect.poll(() => program.output(), { timeout: 30_000 }).toMatch(/"id":1.*"demo__/s);
});
