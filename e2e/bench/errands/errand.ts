// What an agent is asked to do, and how its server tells whether it is done.

import type { Closing } from '../../stage/closing.ts';
import type { Agent } from './agent.ts';
import type { SignIn } from './ground.ts';

export interface Site {
  signIn: SignIn;
  /** The policy: what it does depends on what the answers say, and not on who answers. */
  work(agent: Agent): Promise<void>;
  done(): Promise<boolean>;
}

export interface Errand {
  name: string;
  /** Opens the site anew, as it is before the errand. */
  open(closing: Closing): Promise<Site>;
}
