// What an agent is asked to do, and how its server tells whether it is done.

import type { Closing } from '../../stage/closing.ts';
import type { Agent } from './agent.ts';
import type { SignIn } from './ground.ts';
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
