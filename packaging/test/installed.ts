// A program that was installed, and what is asked of it.

import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

export interface Installed {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
}

/** A folder of this test alone. */
export function folderFor(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tabrelay-installed-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The environment of a person who has nothing but a home folder and the system's programs. */
export function personIn(home: string, programs = '/usr/bin:/bin'): Record<string, string> {
  return { HOME: home, PATH: programs, TABRELAY_LISTEN: '127.0.0.1:0', LANG: 'C.UTF-8' };
}

/** Runs a command to its end and returns what it printed; it must succeed. */
export async function output({ command, args, env }: Installed, ...more: string[]): Promise<string> {
  const child = start(command, [...args, ...more], env);
  child.stdin.end();
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  assert.equal(code, 0, `${command} ${[...args, ...more].join(' ')}: ${out}${err}`);
  return out;
}

/**
 * Starts `tabrelay mcp` as a client does and returns the names of the tools it lists. The relay that it started is
 * ended with `down`.
 */
export async function toolsOver(mcp: Installed, down: Installed): Promise<string[]> {
  const child = start(mcp.command, mcp.args, mcp.env);
  child.stderr.resume();
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message: object): boolean =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const answerTo = async (id: number): Promise<unknown> => {
    for (;;) {
      const { value, done } = await answers.next();
      assert.ok(!done, `tabrelay mcp ended before it answered request ${id}`);
      const message = JSON.parse(value);
      if (message.id === id) return message.result;
    }
  };
  try {
    const clientInfo = { name: 'check', version: '1' };
    send({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
    });
    await answerTo(1);
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/list' });
    const result = await answerTo(2);
    assert.ok(result && typeof result === 'object' && 'tools' in result && Array.isArray(result.tools));
    child.stdin.end();
    const [code] = await once(child, 'close');
    assert.equal(code, 0);
    return result.tools.map((tool: { name: string }) => tool.name);
  } finally {
    child.kill();
    await output(down);
  }
}

function start(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
): ChildProcessWithoutNullStreams {
  return spawn(command, args, { env, cwd: env.HOME });
}
