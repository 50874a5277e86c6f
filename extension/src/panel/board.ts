// What the panel knows: the worker's state, and the answer of each path that somebody looks at. News of a topic makes
// the answers below it stale; those that are looked at are asked for again, the others when somebody looks.

import type { PanelState } from '../shared/panel-state.ts';
import { Line, type Problem, type Reply } from './line.ts';

/** What is known of a path's answer. A failed refresh keeps the value there was, unless that is gone. */
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
// What is wrong depends on all of these.
const examined = ['agents', 'clients', 'paused', 'plugins', 'reviews'];
const topicOf = (path: string): string => /^[^/?]*/.exec(path)?.[0] ?? path;

export class Board {
  state: PanelState | undefined;
  /** The question that the person came for, until it was shown. */
  wanted: string | undefined;
  readonly line: Line;
  readonly #entries = new Map<string, Entry>();
  readonly #stateListeners = new Set<() => void>();

  constructor() {
    this.line = new Line({
      state: (state) => this.#become(state),
      show: (question) => {
        this.wanted = question;
        this.reload('approvals');
      },
      news: (topics) =>
        this.#stale((path) =>
          path === 'doctor'
            ? topics.some((topic) => examined.includes(topic))
            : topics.includes(topicOf(path)),
        ),
    });
  }

  get connected(): boolean {
    return this.state?.link.phase === 'connected';
  }

  /** Calls listener whenever the worker's state changes; returns how to stop that. */
  watchState(listener: () => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  known(path: string): Known {
    return this.#entries.get(path)?.known ?? unknown;
  }

  /** Keeps the answer of a path fresh while somebody watches it. */
  watch(path: string, listener: () => void): () => void {
    const entry = this.#entry(path);
    entry.listeners.add(listener);
    this.#refresh(path, entry);
    return () => {
      entry.listeners.delete(listener);
      // Lists with filters would pile up; what is looked at again is asked for again.
      if (entry.listeners.size === 0 && path.includes('?')) this.#entries.delete(path);
    };
  }

  /** Asks for a path's answer again. */
  reload(path: string): void {
    this.#stale((one) => one === path);
  }

  /** Does something at the relay, and asks again for what it may have changed. */
  async act(method: 'PUT' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Reply> {
    const reply = await this.line.request(method, path, body);
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
    const reply = await this.line.request('GET', path);
    entry.asking = false;
    if (reply.ok) entry.known = { value: reply.body, problem: undefined, loaded: true };
    // What is gone is not shown any more: the relay that had it may have ended.
    else if (reply.problem.status === 404) entry.known = { ...unknown, problem: reply.problem };
    // Without a connection there is no answer; it is asked for again when there is one.
    else if (this.connected) entry.known = { ...entry.known, problem: reply.problem };
    else entry.stale = true;
    for (const listener of entry.listeners) listener();
    await this.#refresh(path, entry);
  }
}
