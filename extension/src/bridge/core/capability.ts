// What can be attached to the bridge. A capability brings it by one registration, in capabilities/bridge.ts; nothing
// else in the bridge names it.
import type { Acting, FromBridge, ToBridge } from '../../shared/bridge-messages.ts';

/** What a capability may use. */
export interface Core {
  post(message: FromBridge): void;
  /** Shows something in the mark on the page while nothing acts there; undefined: not any more. */
  hold(held: Acting | undefined): void;
  /** Watches for errors that the page writes; what it returns ends that, and says which there were. */
  watchErrors(): () => Promise<string[]>;
}

/** What a capability may bring. */
export interface Capability {
  /** What it offers to the other scripts of this world. */
  offers?: Partial<TabrelayBridge>;
  /** Takes a message of the worker; false: it is for somebody else. */
  hear?(message: ToBridge): boolean;
  /** A worker listens: at first, and after each death of the one before. */
  greeted?(): void;
}

export type Attach = (core: Core) => Capability;
