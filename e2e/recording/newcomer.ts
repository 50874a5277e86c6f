// A person who has just installed tabrelay and connected Claude Code.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { type Agent, stdioAgent } from '../stage/agent.ts';
import type { Closing } from '../stage/closing.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { openStage, type Stage } from '../stage/test.ts';

/** A stage without test plugins, as `tabrelay up` and `tabrelay connect claude-code` leave it, and Claude Code as the agent. */
export async function newcomer(closing: Closing): Promise<Stage & { agent: Agent }> {
  process.env.HOME = await temporaryFolder('person', closing); // where clients have their configuration
  const stage = await openStage(closing, { guarded: true }); // as it is for a newcomer
  await stage.relay.tabrelay('connect', 'claude-code');
  const agent = await stdioAgent(stage.relay, closing, ['--client', 'claude-code'], await written());
  return { ...stage, agent };
}

/** What tabrelay connect has written into the configuration of Claude Code for the server's environment. */
async function written(): Promise<Record<string, string>> {
  const text = await readFile(path.join(process.env.HOME ?? '', '.claude.json'), 'utf8');
  const servers = z.object({
    mcpServers: z.record(z.string(), z.object({ env: z.record(z.string(), z.string()) })),
  });
  return servers.parse(JSON.parse(text)).mcpServers.tabrelay?.env ?? {};
}
