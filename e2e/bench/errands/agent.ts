// The agent of the comparison: one policy for every server. It decides by what the answers said, looks only when it
// does not know yet, and looks again when a reference turns out to be dead.

import { tokens } from '../../stage/tokens.ts';
import type { Answer, Driver, Fill } from './driver.ts';
import type { Thing, Wanted } from './view.ts';

/** Above so many tokens a look is dear: then a search is tried first, where the server has one. */
const dearLook = 1500;

/** A list shows some things before the last it shows: the one that is wanted should be among them. */
const halfAView = 5;

/** So often the agent tries what fails only because the thing was drawn anew. */
const mostTries = 3;

const say = ({ role, name, near }: Wanted): string =>
  `${role ?? 'thing'} ${name ?? ''}${near === undefined ? '' : ` near ${near}`}`;

/** Words to search for, of what is wanted. */
const wordsOf = ({ name, near }: Wanted): string | undefined =>
  near ?? (typeof name === 'string' ? name : name?.source.match(/[A-Za-z][A-Za-z ]+/)?.[0]);

export class Agent {
  readonly #driver: Driver;
  #lookTokens = 0;
  /** What was done last leads on: what was seen before is not where it was. */
  #elsewhere = true;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  async go(url: string): Promise<void> {
    await this.#must(await this.#driver.go(url));
    this.#elsewhere = true;
  }

  /** The thing that is wanted, looked for as long as a patient agent looks. */
  async the(wanted: Wanted): Promise<Thing> {
    const { driver } = this;
    const known = this.#elsewhere && !driver.current ? undefined : driver.view.find(wanted);
    if (known !== undefined) return known;
    const words = wordsOf(wanted);
    // Where the last answer told all there is, it is still to come.
    if (!driver.current) {
      if (words !== undefined && this.#lookTokens > dearLook) await driver.search(words);
      else await this.look();
      this.#elsewhere = false;
    }
    const found = driver.view.find(wanted) ?? (await this.#awaited(wanted, words));
    if (found !== undefined) return found;
    throw new Error(`there is no ${say(wanted)}; what is known:\n${driver.view.text.slice(0, 3000)}`);
  }

  async #awaited(wanted: Wanted, words: string | undefined): Promise<Thing | undefined> {
    const { view } = this.#driver;
    if (words !== undefined) await this.#driver.wait(words);
    const told = view.find(wanted);
    if (told !== undefined) return told;
    await this.look();
    this.#elsewhere = false;
    const seen = view.find(wanted);
    if (seen !== undefined || (await this.#driver.words()) === undefined) return seen;
    return view.find(wanted);
  }

  async look(): Promise<void> {
    const { text } = await this.#driver.look();
    this.#lookTokens = tokens(text);
  }

  /** Clicks, and answers a question of the page with yes once it is known; what leads on shows something else. */
  async click(wanted: Wanted, { yes = false, double = false, leads = false } = {}): Promise<void> {
    await this.#act(wanted, (thing) => this.#driver.click(thing, { yes, double }));
    this.#elsewhere = leads;
  }

  /** Fills fields in as few calls as the server needs. */
  async fill(fields: readonly [Wanted, string | number | boolean][], submit = false): Promise<void> {
    const found: Fill[] = [];
    for (const [wanted, value] of fields) found.push({ thing: await this.the(wanted), value });
    const answer = await this.#driver.fill(found, submit);
    this.#elsewhere = submit;
    if (!answer.stale) return this.#must(answer);
    for (const { thing } of found) this.#dead(thing);
    const again: Fill[] = [];
    for (const [wanted, value] of fields) again.push({ thing: await this.the(wanted), value });
    await this.#must(await this.#driver.fill(again, submit));
  }

  async press(keys: string): Promise<void> {
    await this.#must(await this.#driver.press(keys));
    this.#elsewhere = true;
  }

  async hover(wanted: Wanted): Promise<void> {
    await this.#act(wanted, (thing) => this.#driver.hover(thing));
  }

  async drag(from: Wanted, to: Wanted): Promise<void> {
    const target = await this.the(to);
    await this.#act(from, (thing) => this.#driver.drag(thing, target));
  }

  async upload(wanted: Wanted, file: string): Promise<void> {
    await this.#act(wanted, (thing) => this.#driver.upload(thing, file));
  }

  /** Brings a slider of the page's own to a value. */
  async slide(wanted: Wanted, from: number, to: number): Promise<void> {
    await this.#act(wanted, (thing) => this.#driver.slide(thing, from, to));
  }

  /** Scrolls a long list of numbered things until one of them is there: far at first, then by what that showed. */
  async scrollTo(list: Wanted, numbered: RegExp, number: number): Promise<void> {
    const shown = () => this.driver.view.numbers(numbered);
    await this.the({ name: numbered });
    let by = 10_000;
    for (let tries = 0; tries < 5; tries++) {
      const before = shown();
      await this.#act(list, (thing) => this.#driver.scroll(thing, by));
      this.#elsewhere = true;
      if (!this.#driver.current) await this.look();
      if (shown().includes(number)) return;
      const last = shown().at(-1) ?? 0;
      const each = by / (last - (before.at(-1) ?? 0));
      by = Math.round((number + halfAView - last) * each);
      if (!Number.isFinite(by)) throw new Error('the list does not scroll');
    }
  }

  /** Goes on in the window that the page opened. */
  async other(): Promise<void> {
    await this.#must(await this.#driver.other());
    this.#elsewhere = true;
  }

  /** Goes back to the tab it began in. */
  async first(): Promise<void> {
    await this.#must(await this.#driver.first());
    this.#elsewhere = true;
  }

  /** Makes sure that the page says something. */
  async expect(words: string): Promise<void> {
    const { driver } = this;
    if (driver.current && driver.view.says(words)) return;
    if (!(await driver.wait(words)).failed) return;
    if ((await driver.words()) === undefined) await this.look(); // it may be where waiting does not reach
    if (driver.view.says(words)) return;
    throw new Error(`"${words}" is not said; what is known:\n${driver.view.text.slice(0, 3000)}`);
  }

  get driver(): Driver {
    return this.#driver;
  }

  async #act(wanted: Wanted, act: (thing: Thing) => Promise<Answer>): Promise<void> {
    let thing = await this.the(wanted);
    let answer = await act(thing);
    for (let tries = 1; answer.stale && tries < mostTries; tries++) {
      this.#dead(thing);
      thing = this.#driver.inWords(thing, wanted.near, answer) ?? (await this.the(wanted));
      answer = await act(thing);
    }
    await this.#must(answer);
  }

  // A reference that is dead is not used again.
  #dead({ ref }: Thing): void {
    this.#driver.view.forgetThing(ref);
    this.#driver.current = false;
    this.#elsewhere = true;
  }

  #must(answer: Answer): void {
    if (answer.failed) throw new Error(answer.text.slice(0, 1500));
  }
}
