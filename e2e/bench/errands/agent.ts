// The agent of the comparison: one policy for every server. It decides by what the answers said, looks only when it
// does not know yet, and looks again when a reference turns out to be dead.

import { tokens } from '../../stage/tokens.ts';
import type { Answer, Driver, Fill, Step } from './driver.ts';
import type { Thing, Wanted } from './view.ts';

type Fields = readonly [Wanted, string | number | boolean][];

/** One of several things that are done one after the other; leads: what is known then is known no more. */
export type Deed =
  | { click: Wanted; yes?: boolean; leads?: boolean }
  | { fill: Fields }
  | { slide: Wanted; from: number; to: number }
  | { upload: Wanted; file: string };

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

function targetOf(deed: Deed): Wanted {
  if ('click' in deed) return deed.click;
  if ('slide' in deed) return deed.slide;
  if ('upload' in deed) return deed.upload;
  return deed.fill[0]?.[0] ?? {};
}

export class Agent {
  readonly #driver: Driver;
  #lookTokens = 0;
  /** What was done last leads on: what was seen before is not where it was. */
  #elsewhere = true;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** Goes to a page; until: what it is to say. */
  async go(url: string, until?: string): Promise<void> {
    await this.#must(await (until === undefined ? this.#driver.go(url) : this.#driver.goUntil(url, until)));
    this.#elsewhere = true;
    if (until !== undefined) await this.expect(until);
  }

  /**
   * Does one thing after the other; until: what the page is to say then. A server with a tool for several things gets
   * those in one call whose targets are known before; what such a call leaves, and what others do, is done one by one.
   */
  async all(deeds: readonly Deed[], until?: string): Promise<void> {
    const done = deeds.length > 1 || until !== undefined ? await this.#together(deeds, until) : 0;
    for (const deed of deeds.slice(done)) {
      if ('click' in deed) await this.click(deed.click, deed);
      else if ('fill' in deed) await this.fill(deed.fill);
      else if ('slide' in deed) await this.slide(deed.slide, deed.from, deed.to);
      else await this.upload(deed.upload, deed.file);
    }
    if (until !== undefined) await this.expect(until);
  }

  // How many of them were done in one call.
  async #together(deeds: readonly Deed[], until: string | undefined): Promise<number> {
    const [first] = deeds;
    if (first === undefined) return 0;
    await this.the(targetOf(first));
    const steps: Step[] = [];
    for (const deed of deeds) {
      const step = this.#known(deed);
      if (step === undefined) break;
      steps.push(step);
    }
    if (steps.length < 2 && (until === undefined || steps.length < deeds.length)) return 0;
    const asked = this.#driver.several(steps, steps.length === deeds.length ? until : undefined);
    if (asked === undefined) return 0;
    const answer = await asked;
    if (!answer.stale) await this.#must(answer);
    const last = deeds[answer.done - 1];
    this.#elsewhere = answer.stale || (last !== undefined && 'click' in last && last.leads === true);
    return answer.done;
  }

  #known(deed: Deed): Step | undefined {
    const { view } = this.#driver;
    if ('fill' in deed || 'slide' in deed) {
      const fields: Fields = 'fill' in deed ? deed.fill : [[deed.slide, deed.to]];
      const fill = fields.flatMap(([wanted, value]) => {
        const thing = view.find(wanted);
        return thing === undefined ? [] : [{ thing, value }];
      });
      return fill.length === fields.length ? { fill } : undefined;
    }
    const thing = view.find(targetOf(deed));
    if (thing === undefined) return undefined;
    return 'click' in deed ? { click: thing, yes: deed.yes === true } : { upload: thing, file: deed.file };
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
  async fill(fields: Fields, submit = false): Promise<void> {
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
