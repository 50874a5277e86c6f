// The last calls, for the panel. Kept in the session store so that a new worker still shows them.
import { listOf } from '../page/guards.ts';
import type { Ending } from '../page/order.ts';
import { type CallEntry, isCallEntry } from '../panel/state.ts';
import type { CallListener, OpenCall } from './inflight.ts';

const kept = 20;
const saveAfterMs = 1000;

function describe(ending: Ending): Pick<CallEntry, 'outcome' | 'error'> {
  if (ending.status === 'returned') return { outcome: 'returned', error: undefined };
  const error = ending.status === 'threw' ? ending.error : { ...ending.refusal, retryable: false };
  const field = (name: 'category' | 'retryable' | 'retryAfterMs') =>
    name in error && Reflect.get(error, name) !== undefined
      ? ` ${name}=${String(Reflect.get(error, name))}`
      : '';
  const outcome = ending.status === 'refused' ? ` outcome=${ending.refusal.outcome}` : '';
  const code = String(error.code);
  const head = `[ERROR code=${code}${field('category')}${field('retryable')}${field('retryAfterMs')}${outcome}]`;
  return { outcome: code, error: `${head} ${String(error.message).slice(0, 500)}` };
}

export class History implements CallListener {
  #entries: CallEntry[] = [];
  #saving = false;
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
    chrome.storage.session.get('history').then(({ history }) => {
      if (listOf(isCallEntry)(history)) this.#entries = this.#entries.concat(history).slice(0, kept);
      changed();
    });
  }

  get entries(): readonly CallEntry[] {
    return this.#entries;
  }

  began({ frame, beganAt }: OpenCall): void {
    const { id, plugin, tool, tabId } = frame;
    this.#entries.unshift({
      id,
      plugin,
      tool,
      tabId,
      at: beganAt,
      durationMs: undefined,
      outcome: 'running',
      error: undefined,
    });
    if (this.#entries.length > kept) this.#entries.pop();
    this.#changed();
  }

  ended(call: OpenCall, ending: Ending): void {
    const index = this.#entries.findIndex((entry) => entry.id === call.frame.id);
    const entry = this.#entries[index];
    if (entry !== undefined) {
      this.#entries[index] = { ...entry, durationMs: Date.now() - call.beganAt, ...describe(ending) };
    }
    this.#changed();
    this.#save();
  }

  #save(): void {
    if (this.#saving) return;
    this.#saving = true;
    setTimeout(() => {
      this.#saving = false;
      chrome.storage.session.set({ history: this.#entries }).catch(() => {});
    }, saveAfterMs);
  }
}
