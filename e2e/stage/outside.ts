// Clients that were not written here and are no libraries of Node: programs in e2e/outside.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { repository } from './paths.ts';
import { run, start } from './process.ts';

const folder = path.join(repository, 'e2e/outside');

/** Builds the conversation of the Go libraries and returns the binary. */
export async function buildGoClients(into: string): Promise<string> {
  const binary = path.join(into, 'outside');
  await run('go', ['build', '-C', path.join(folder, 'testdata/go'), '-o', binary, '.']);
  return binary;
}

/** For programs that need a newer Node than the rest. */
export const newerNode = path.join(repository, 'e2e/conformance/node_modules/node/bin/node');
const inspector = path.join(
  folder,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

/**
 * Runs the command line of the Inspector to its end. It needs a newer Node than the rest, as the conformance suite
 * does.
 */
export async function inspect(args: readonly string[], env: Record<string, string>) {
  for (const file of [newerNode, inspector])
    if (!existsSync(file)) throw new Error(`${file} does not exist. Run "make e2e", which installs it.`);
  const program = start(newerNode, [inspector, '--cli', ...args], env);
  const code = await program.ended;
  const printed = program.printed();
  return { code, printed, complaints: program.output().replace(printed, '') };
}

const agents = path.join(folder, 'clients/node_modules');

/** Agents that people connect, once `make clients` has installed them. */
export const claudeCode = path.join(
  agents,
  `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
);
/** Lets Claude Code speak the Agent Client Protocol. */
export const claudeAdapter = path.join(agents, '@agentclientprotocol/claude-agent-acp/dist/index.js');
export const codex = path.join(agents, '.bin/codex');
export const gemini = path.join(agents, '.bin/gemini');
export const opencode = path.join(agents, `opencode-${process.platform}-${process.arch}/bin/opencode`);

/** Where Codex has the ripgrep that others look for in PATH. */
export function ripgrepFolder(): string {
  const folder = path.join(agents, `@openai/codex-${process.platform}-${process.arch}`);
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((file) =>
    /^rg(\.exe)?$/.test(path.basename(file)),
  );
  return path.join(folder, path.dirname(found ?? '.'));
}
