// Agents that people use, as programs to which a client delegates: each speaks the Agent Client Protocol, thinks with
// the scripted model, and calls a tool of the relay through the MCP server that it is given. `make clients` installs
// them.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { Closing } from '../stage/closing.ts';
import { delegate, endOf, errandTest } from '../stage/errands.ts';
import type { Model } from '../stage/model.ts';
import { claudeAdapter, claudeCode, gemini, newerNode, opencode } from '../stage/outside.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { expect, type Stage } from '../stage/test.ts';

errandTest.skip(!existsSync(gemini), 'make clients installs the agents and runs this');

/** Writes a file of settings into a person's folder. */
function settle(home: string, name: string, content: unknown): void {
  const file = path.join(home, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
}

/** `workers` of config.json. */
function programs({ url }: Model, home: string) {
  settle(home, '.gemini/settings.json', { security: { auth: { selectedType: 'gemini-api-key' } } });
  settle(home, '.gemini/trustedFolders.json', { [home]: 'TRUST_FOLDER' });
  settle(home, '.claude/settings.json', { permissions: { defaultMode: 'default' } });
  settle(home, '.config/opencode/opencode.json', {
    model: 'local/stand-in',
    small_model: 'local/stand-in',
    autoupdate: false,
    provider: {
      local: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${url}/v1`, apiKey: 'none' },
        models: { 'stand-in': { tool_call: true } },
      },
    },
  });
  return {
    gemini: {
      command: gemini,
      args: ['--acp', '--model', 'gemini-2.5-pro'],
      env: { HOME: home, GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url },
      cwd: home,
    },
    claude: {
      command: newerNode,
      args: [claudeAdapter],
      env: {
        HOME: home,
        CLAUDE_CONFIG_DIR: path.join(home, '.claude'),
        CLAUDE_CODE_EXECUTABLE: claudeCode,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ENABLE_TOOL_SEARCH: 'false', // all tools are in the first request
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'none',
      },
      cwd: home,
    },
    opencode: {
      command: opencode,
      args: ['acp'],
      env: { HOME: home, XDG_CONFIG_HOME: path.join(home, '.config') },
      cwd: home,
    },
  };
}

const test = errandTest.extend<object>({
  groundOptions: [
    async ({ model }, use) => {
      const closing = new Closing();
      const home = await temporaryFolder('workers', closing);
      await use({ guarded: true, config: { workers: programs(model, home), permissions: { demo: 'auto' } } });
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

const Pending = z.object({ approvals: z.array(z.looseObject({ id: z.string() })) });

/** The person allows whatever the program asks about, until its errand ends. Returns what was asked. */
async function allowAll({ relay }: Stage, errand: Promise<unknown>): Promise<string> {
  let asked = '';
  let over = false;
  const ended = () => {
    over = true;
  };
  errand.then(ended, ended);
  const look = async () => {
    const { approvals } = Pending.parse(JSON.parse(await relay.tabrelay('permit', 'pending', '--json')));
    if (approvals.length > 0) asked += await relay.tabrelay('permit', 'pending');
    for (const { id } of approvals) await relay.person('permit', 'allow', id);
    return over;
  };
  await expect.poll(look, { message: 'the errand ends', timeout: 120_000 }).toBe(true);
  return asked;
}

for (const agentId of ['gemini', 'opencode', 'claude']) {
  test(`${agentId} carries out an errand with a tool of the relay`, async ({ sharedStage: stage, model }) => {
    const name = `by ${agentId}`;
    model.play(({ tools, results }) => {
      const tool = tools.find((one) => one.endsWith('demo__counter_increment'));
      if (tool === undefined || results.length > 0) return { say: `Raised by ${agentId}.` };
      return { tool, input: { name, by: 7 } };
    });
    const answer = delegate(stage.agent, { agentId, prompt: 'Raise the counter.', timeout: 120_000 });
    const asked = await allowAll(stage, answer);
    const end = endOf(await answer);
    expect(end).toMatchObject({ agentId, stopReason: 'end_turn' });
    expect(end.text).toContain(`Raised by ${agentId}.`);
    expect(end.toolCalls).toMatchObject([{ tool: 'demo__counter_increment', ok: true }]);
    expect(await stage.demo.counter(name)).toMatchObject({ asked: 1, value: 7 });
    // Two of them ask before they call any tool; the person sees with which arguments.
    if (agentId !== 'opencode') expect(asked).toMatch(/by"?: ?7/);
    expect(model.requests.at(-1)?.shown.tools.join(' ')).not.toContain('tasks_delegate');
  });
}
