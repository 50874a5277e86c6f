// What an agent knows of a page: what the answers of its calls told, and nothing else. Each server writes a thing as
// a role, a name in quotes and a reference, in an order of its own.

export interface Thing {
  ref: string;
  role: string;
  name: string;
  /** Its line, and where it stands among all lines. */
  line: string;
  at: number;
  /** Which of the answers told it. */
  told: number;
}

export interface Wanted {
  role?: string | RegExp;
  name?: string | RegExp;
  /** It stands in the line of these words, or is the first behind it. */
  near?: string;
  /** How it is known where a server has no name for it. */
  or?: Wanted;
}

/** The things that a line of an answer names. */
export type Reader = (line: string) => Pick<Thing, 'ref' | 'role' | 'name'>[];

// What a reference says is no word of the page.
const wordsOf = (line: string): string => line.replaceAll(/\b(?:uid=[\d_]+|(?:f\d+)?e\d+\b)/g, '');

// Icons drawn with characters of a font of the page's own are no words.
const spoken = (name: string): string => name.replaceAll(/[\uE000-\uF8FF]/g, '').trim();

const fits = (what: string, wanted: string | RegExp | undefined): boolean =>
  wanted === undefined || (typeof wanted === 'string' ? what === wanted : wanted.test(what));

// The cells of a row that are told by … are as they were.
function filledIn(before: string, now: string): string {
  const old = before.split(' | ');
  const isSame = (cell: string): boolean => cell === '…' || cell.endsWith(': …');
  return now
    .split(' | ')
    .map((cell, at) => (isSame(cell) ? (old[at] ?? cell) : cell))
    .join(' | ');
}

export class View {
  readonly #reader: Reader;
  #lines: string[] = [];
  #things: Thing[] = [];
  #told = 0;

  constructor(reader: Reader) {
    this.#reader = (line) => reader(line).map((one) => ({ ...one, name: spoken(one.name) }));
  }

  forget(): void {
    this.#lines = [];
    this.#things = [];
  }

  /** Adds what an answer says; what it names again is as it says now. */
  add(text: string): void {
    this.#told++;
    for (const line of text.split('\n')) {
      const found = this.#reader(line);
      const again = new Set(found.map(({ ref }) => ref));
      if (again.size > 0) this.#things = this.#things.filter(({ ref }) => !again.has(ref));
      const at = this.#lines.push(line) - 1;
      this.#things.push(...found.map((one) => ({ ...one, line, at, told: this.#told })));
    }
  }

  /** A line says something else now. */
  change(line: string): void {
    const [first] = this.#reader(line);
    const at = this.#things.find(({ ref }) => ref === first?.ref)?.at;
    if (at === undefined) {
      this.add(line);
      return;
    }
    const whole = filledIn(this.#lines[at] ?? '', line);
    const found = this.#reader(whole).map((one) => ({ ...one, line: whole, at, told: this.#told }));
    const again = new Set(found.map(({ ref }) => ref));
    this.#lines[at] = whole;
    this.#things = [...this.#things.filter(({ ref }) => !again.has(ref)), ...found];
  }

  /** A line is gone, of which at least the beginning is told. */
  remove(line: string): void {
    const beginning = line.trim().replace(/…$/, '');
    const dead = new Set(this.#reader(line).map(({ ref }) => ref));
    const gone = new Set<number>();
    for (const { ref, at } of this.#things) if (dead.has(ref)) gone.add(at);
    this.#lines.forEach((one, at) => {
      if (one.trim().startsWith(beginning)) gone.add(at);
    });
    this.#things = this.#things.filter(({ at }) => !gone.has(at));
    for (const at of gone) this.#lines[at] = '';
  }

  /** Things have other references now, and words of their lines are others. */
  rename(refs: ReadonlyMap<string, string>, words: readonly (readonly [string, string])[]): void {
    this.#lines.forEach((line, at) => {
      const named = line.replaceAll(/\[((?:f\d+)?e\d+)\]/g, (all, ref) =>
        refs.has(ref) ? `[${refs.get(ref)}]` : all,
      );
      if (named === line) return;
      this.#lines[at] = words.reduce((said, [was, is]) => said.replaceAll(was, is), named);
    });
    this.#things = this.#things.map((one) => {
      const line = this.#lines[one.at] ?? one.line;
      return { ...one, ref: refs.get(one.ref) ?? one.ref, line };
    });
  }

  forgetThing(ref: string): void {
    this.#things = this.#things.filter((one) => one.ref !== ref);
  }

  find(wanted: Wanted): Thing | undefined {
    return this.#fitting(wanted) ?? (wanted.or === undefined ? undefined : this.#fitting(wanted.or));
  }

  // The first that fits of those that were told last.
  #fitting({ role, name, near }: Wanted): Thing | undefined {
    const from = near === undefined ? 0 : this.#lines.findLastIndex((line) => wordsOf(line).includes(near));
    if (from < 0) return undefined;
    return this.#things
      .filter((one) => one.at >= from && fits(one.role, role) && fits(one.name, name))
      .reduce<Thing | undefined>(
        (best, one) => (best === undefined || one.told > best.told ? one : best),
        undefined,
      );
  }

  /** The numbers in the names of things, as a view of a list has them. */
  numbers(numbered: RegExp): number[] {
    const all = this.#things.map(({ name }) => Number(numbered.exec(name)?.[1] ?? Number.NaN));
    return all.filter((one) => !Number.isNaN(one));
  }

  says(words: string | RegExp): boolean {
    return this.#lines.some((line) => (typeof words === 'string' ? line.includes(words) : words.test(line)));
  }

  get text(): string {
    return this.#lines.join('\n');
  }
}
