// The panel's cache: the worker's state, and the relay's answer for each path. News of a topic makes its answers stale.
// Those that are shown are fetched again at once, the others when they are shown next.

import type { PanelState } from '../shared/panel-state.ts';
import { type Problem, type Reply, WorkerPort } from './workerport.ts';

/** The cached answer of a path. A failed refresh keeps the last value, except after 404. */
export interface Known {
  value: unknown;
  problem: Problem | undefined;
  loaded: boolean;
}

interface Entry {
  known: Known;
  listeners: Set<() => void>;
  asking: boolean;
  stale: boolean;
}

const unknown: Known = { value: undefined, problem: undefined, loaded: false };
// The topics whose news may change an answer, where they are not its own.
const alsoAbout: Record<string, readonly string[]> = {
  doctor: ['agents', 'clients', 'paused', 'plugins', 'reviews'],
  'installed-clients': ['clients'],
};
const topicOf = (path: string): string => /^[^/?]*/.exec(path)?.[0] ?? path;

export class Board {
  state: PanelState | undefined;
  /** The question whose notification the person clicked, until it was shown. */
  wanted: string | undefined;
  readonly worker: WorkerPort;
  readonly #entries = new Map<string, Entry>();
  readonly #stateListeners = new Set<() => void>();

  constructor() {
    this.worker = new WorkerPort({
      state: (state) => this.#become(state),
      show: (question) => {
        this.wanted = question;
        this.reload('approvals');
      },
      news: (topics) =>
        this.#stale((path) => (alsoAbout[path] ?? [topicOf(path)]).some((topic) => topics.includes(topic))),
    });
  }

  get connected(): boolean {
    return this.state?.link.phase === 'connected';
  }

  /** Calls listener whenever the worker's state changes; returns a function that stops it. */
  watchState(listener: () => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  known(path: string): Known {
    return this.#entries.get(path)?.known ?? unknown;
  }

  /** Keeps the answer of a path fresh, and calls listener when it changes; returns a function that stops it. */
  watch(path: string, listener: () => void): () => void {
    const entry = this.#entry(path);
    entry.listeners.add(listener);
    this.#refresh(path, entry);
    return () => {
      entry.listeners.delete(listener);
      // Each combination of filters is a path of its own: these entries would pile up.
      if (entry.listeners.size === 0 && path.includes('?')) this.#entries.delete(path);
    };
  }

  /** Fetches the answer of a path again. */
  reload(path: string): void {
    this.#stale((one) => one === path);
  }

  /** Sends a request that changes something, and refreshes the answers of its topic. */
  async act(method: 'PUT' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Reply> {
    const reply = await this.worker.request(method, path, body);
    this.#stale((one) => topicOf(one) === topicOf(path));
    return reply;
  }

  #become(state: PanelState): void {
    const before = this.connected;
    this.state = state;
    for (const listener of this.#stateListeners) listener();
    if (this.connected && !before) this.#stale(() => true);
  }

  #entry(path: string): Entry {
    const entry = this.#entries.get(path) ?? {
      known: unknown,
      listeners: new Set(),
      asking: false,
      stale: true,
    };
    this.#entries.set(path, entry);
    return entry;
  }

  #stale(concerned: (path: string) => boolean): void {
    for (const [path, entry] of this.#entries) {
      if (!concerned(path)) continue;
      entry.stale = true;
      this.#refresh(path, entry);
    }
  }

  async #refresh(path: string, entry: Entry): Promise<void> {
    if (!entry.stale || entry.asking || entry.listeners.size === 0 || !this.connected) return;
    entry.asking = true;
    entry.stale = false;
    const reply = await this.worker.request('GET', path);
    entry.asking = false;
    if (reply.ok) entry.known = { value: reply.body, problem: undefined, loaded: true };
    // A value that is gone is not shown any more; it may have been that of a former relay.
    else if (reply.problem.status === 404) entry.known = { ...unknown, problem: reply.problem };
    // It failed because the connection was lost: it is fetched again once there is one.
    else if (this.connected) entry.known = { ...entry.known, problem: reply.problem };
    else entry.stale = true;
    for (const listener of entry.listeners) listener();
    await this.#refresh(path, entry);
  }
}
