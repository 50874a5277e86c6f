// What an agent is asked to do, and how its server tells whether it is done.

import type { Closing } from '../../stage/closing.ts';
import { Agent } from './agent.ts';
import type { Driver } from './driver.ts';
import type { Server, SignIn } from './ground.ts';
import type { Script } from './scripts.ts';

export interface Site {
  signIn: SignIn;
  /** The policy: what it does depends on what the answers say, and not on who answers. Returns what is reported. */
  work(agent: Agent): Promise<unknown>;
  /** The same as scripts of `relay__run`, as an agent writes each once it has read the answer to the one before. */
  scripts?(): Promise<readonly Script[]> | readonly Script[];
  /** The same as code for Playwright MCP. */
  code?(): readonly string[];
  /** Whether it is done; reported: what the agent says in the end. */
  done(reported: string): Promise<boolean>;
}

export interface Errand {
  name: string;
  /** Opens the site anew, as it is before the errand. */
  open(closing: Closing): Promise<Site>;
}

/** What an agent does, and what it reports in the end. */
export async function work(site: Site, server: Server, driver: Driver): Promise<string> {
  if (server !== 'scripts' && server !== 'code') return String(await site.work(new Agent(driver)));
  let reported = '';
  for (const script of (await (server === 'scripts' ? site.scripts?.() : site.code?.())) ?? []) {
    const answer = await driver.run(typeof script === 'string' ? script : script(reported));
    if (answer.failed) throw new Error(answer.text.slice(0, 1500));
    reported = answer.text;
  }
  return reported;
}
