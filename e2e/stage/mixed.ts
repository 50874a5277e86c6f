// Agents that walk between desks, in their own tabs and others', in two accounts, while things go wrong. Every answer
// is compared with what was meant: the page says where it is and whose, and the site keeps what was written.

import type { Agent } from './agent.ts';
import type { Answer } from './answer.ts';
import { Chance } from './chance.ts';
import { type Desks, Place, type Profile } from './desks.ts';

type Meant = { desk: string | undefined; account: string };

/** What a call may fail with when its tab, its browser or its worker is taken away. */
const troubles = new Set([
  'ADAPTER_NOT_READY',
  'BROWSER_NOT_RUNNING',
  'CIRCUIT_OPEN',
  'EXTENSION_LOST',
  'INJECTION_FAILED',
  'PROFILE_NOT_CONNECTED',
  'TAB_CHANGED',
  'TAB_NOT_FOUND',
  'TAB_UNRESPONSIVE',
  'WORKER_ASLEEP',
]);

interface Spot {
  profile: Profile;
  owner: string; // the client that is to own it
  tabId: number;
  busy: boolean; // being opened again: nobody knows who owns it
}

/** What everybody does, and what came of it. */
export class Mixed {
  readonly desks: Desks;
  readonly spots = new Map<string, Spot>();
  readonly wrong: string[] = [];
  readonly counts = new Map<string, number>();
  readonly #meant = new Map<string, Meant>(); // notes that may have been written
  readonly #never = new Set<string>(); // notes of calls that were not executed
  readonly #waiting: { calls: number; done: () => void }[] = [];
  calls = 0;
  closed = 0; // tabs, so far
  over = false;

  constructor(desks: Desks) {
    this.desks = desks;
  }

  /** Notes a desk, in the tab that shows it now. */
  async place(desk: string, profile: Profile, owner: string): Promise<void> {
    const { tabId } = await this.desks.tab(desk);
    this.spots.set(desk, { profile, owner, tabId, busy: true });
  }

  /** Resolves after so many more calls. */
  after(more: number): Promise<void> {
    return new Promise((done) => void this.#waiting.push({ calls: this.calls + more, done }));
  }

  complain(what: string): void {
    this.wrong.push(what);
  }

  writes(note: string, meant: Meant): void {
    this.#meant.set(note, meant);
  }

  ended(kind: string, note: string | undefined, answer: Answer): void {
    this.calls++;
    const what = answer.failed ? `${kind}: ${String(answer.code)}` : kind;
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
    if (note !== undefined && answer.failed && answer.facts.outcome === 'not_executed') this.#never.add(note);
    for (const waiter of this.#waiting) if (this.calls >= waiter.calls) waiter.done();
  }

  /** Compares what the site has with what was meant. */
  audit(): void {
    const seen = new Set<string>();
    for (const { note, account, desk } of this.desks.site.notes) {
      const meant = this.#meant.get(note);
      if (seen.has(note)) this.complain(`${note} was written twice`);
      if (this.#never.has(note)) this.complain(`${note} was written, though it was said that it was not`);
      if (meant === undefined || meant.account !== account || (meant.desk ?? desk) !== desk)
        this.complain(`${note} was meant for ${JSON.stringify(meant)} and is at ${desk} of ${account}`);
      seen.add(note);
    }
  }
}

/** One agent. */
export class Walker {
  readonly client: string;
  readonly #agent: Agent;
  readonly #mixed: Mixed;
  readonly #chance: Chance;
  #last: { desk: string; account: string; closed: number } | undefined;
  #notes = 0;

  constructor(client: string, agent: Agent, mixed: Mixed, seed: number) {
    this.client = client;
    this.#agent = agent;
    this.#mixed = mixed;
    this.#chance = new Chance(seed);
  }

  /** Walks until everything is over. */
  async walk(): Promise<void> {
    while (!this.#mixed.over) {
      await this.#claim();
      const go = this.#chance.next() < 0.5 || this.#last === undefined;
      await (go ? this.#go() : this.#stay());
    }
  }

  /** Takes the desks that are to be its own, and that have just been opened. */
  async #claim(): Promise<void> {
    for (const [desk, spot] of this.#mixed.spots) {
      if (!spot.busy || spot.owner !== this.client || spot.tabId === 0) continue;
      const answer = await this.#call('claim', desk, { desk, account: spot.profile.account }, true);
      // A call of the other one that waited for this browser may have found the desk free first: then it is theirs.
      const faster = answer.code === 'TAB_OWNED' ? /client "([^"]+)"/.exec(answer.text)?.[1] : undefined;
      if (answer.failed && faster === undefined) continue;
      spot.owner = faster ?? spot.owner;
      spot.busy = false;
    }
  }

  /** A call that names its tab and its profile. */
  async #go(): Promise<void> {
    const known = Array.from(this.#mixed.spots).filter(([, { busy }]) => !busy);
    const [desk, spot] = known[this.#chance.between(0, known.length - 1)] ?? [];
    if (desk === undefined || spot === undefined) return void (await this.#mixed.after(0));
    await this.#call('go', desk, { desk, account: spot.profile.account }, this.#chance.next() < 0.5);
  }

  /** A call that names nothing: it has to go where the last one went. */
  async #stay(): Promise<void> {
    const last = this.#last;
    if (last === undefined) return;
    const desk = this.#mixed.closed === last.closed ? last.desk : undefined;
    await this.#call('stay', undefined, { desk, account: last.account }, this.#chance.next() < 0.5);
  }

  async #call(kind: string, at: string | undefined, meant: Meant, write: boolean): Promise<Answer> {
    const { closed } = this.#mixed;
    const spot = at === undefined ? undefined : this.#mixed.spots.get(at);
    const target = spot && { tabId: spot.tabId, profile: spot.profile.id };
    const note = write ? `${this.client}-${++this.#notes}` : undefined;
    if (note !== undefined) this.#mixed.writes(note, { ...meant, desk: at });
    const args = { ...target, ...(note !== undefined && { note, ms: this.#chance.between(0, 30) }) };
    const answer = await this.#agent.call(write ? 'desk__write' : 'desk__read', args);
    const calm = closed === this.#mixed.closed;
    this.#mixed.ended(`${kind} ${write ? 'write' : 'read'}`, note, answer);
    // A call that failed on its way may have been sent, and then the session is there: nobody can tell from here.
    if (answer.failed && at !== undefined && answer.code !== 'TAB_OWNED') this.#last = undefined;
    if (kind === 'claim' && answer.code === 'TAB_OWNED') return answer;
    if (answer.failed) this.#failed(answer, calm ? meant.desk : undefined, write);
    else this.#returned(answer, calm ? meant : { ...meant, desk: at }, write, closed);
    return answer;
  }

  #returned(answer: Answer, meant: Meant, write: boolean, closed: number): void {
    const place = Place.parse(answer.value);
    const said = JSON.stringify(answer.meta['tabrelay/call']);
    const spot = this.#mixed.spots.get(place.desk);
    if (place.account !== meant.account || (meant.desk !== undefined && place.desk !== meant.desk))
      this.#mixed.complain(
        `${this.client} meant ${JSON.stringify(meant)} and was at ${JSON.stringify(place)}`,
      );
    if (spot !== undefined && !said.includes(`"profileId":"${spot.profile.id}"`))
      this.#mixed.complain(`${this.client} was at ${place.desk}, and was told ${said}`);
    if (write && spot !== undefined && !spot.busy && spot.owner !== this.client)
      this.#mixed.complain(`${this.client} wrote at ${place.desk}, which belongs to ${spot.owner}`);
    this.#last = { ...place, closed };
  }

  #failed(answer: Answer, desk: string | undefined, write: boolean): void {
    const code = String(answer.code);
    if (code !== 'TAB_OWNED') {
      if (!troubles.has(code)) this.#mixed.complain(`${this.client} got ${answer.text}`);
      return;
    }
    const owner = desk === undefined ? undefined : this.#mixed.spots.get(desk)?.owner;
    if (!write || owner === this.client) this.#mixed.complain(`${this.client} at ${desk}: ${answer.text}`);
    if (owner !== undefined && !answer.text.includes(`belongs to the client "${owner}"`))
      this.#mixed.complain(`${desk} is ${owner}'s, but ${this.client} was told: ${answer.text}`);
  }
}
