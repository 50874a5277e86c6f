// agent-browser, a program of the command line that keeps a browser between commands: used from a shell as its own
// guide tells, with a session of its own, references of snapshots, commands that are chained, and looks that tell what
// changed.

import { z } from 'zod';
import { type Caller, quoted } from './caller.ts';
import { type Answer, Driver, type Fill, joined, type Several, type Step } from './driver.ts';
import type { Reader, Thing } from './view.ts';

// Where only words name a thing, what is drawn over them may be the thing itself: the answer says what it is.
const over = /is covered by <\w+ inside ([^>]+)>/;

const stale =
  /Unknown ref|Stale ref|Ref not found|Element not found: @|not attached|No node with given id|is covered by <\w+ in/;

const unquote = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

// What has words and no reference is named by them.
const byWords = (words: string): string =>
  `xpath=//*[normalize-space(text())=${words.includes("'") ? `"${words}"` : `'${words}'`}]`;

const read: Reader = (line) => {
  const [, role = '', quotedName] = /^\s*- ([A-Za-z]+)(?: "((?:[^"\\]|\\.)*)")?/.exec(line) ?? [];
  const name = unquote(quotedName ?? '').trim();
  const ref = /\bref=(e\d+)\]/.exec(line)?.[1];
  if (ref !== undefined) return [{ ref: `@${ref}`, role, name }];
  return role === 'StaticText' && name !== '' ? [{ ref: byWords(name), role: '', name }] : [];
};

const Delta = z.object({
  kind: z.literal('delta'),
  treeChange: z
    .object({ startLine: z.number(), deleteCount: z.number(), lines: z.array(z.string()) })
    .optional(),
});

/** What an agent reads first. */
export const guide = 'agent-browser skills get core';

const look = ['snapshot', '-i', '--delta'];
const allWords = ['snapshot', '-c'];
const dialog = /JavaScript confirm dialog/;

/** How a slider is brought nearer: steps of the keyboard. */
const towards = (from: number, to: number): string => (to > from ? 'ArrowRight' : 'ArrowLeft');

export class AgentBrowserDriver extends Driver {
  /** The page as the last looks told it. */
  #tree: string[] = [];
  #options = new Set<string>();

  constructor(caller: Caller) {
    super(caller, read);
  }

  async go(url: string): Promise<Answer> {
    return this.#run(['open', url], look);
  }

  look(): Promise<Answer> {
    return this.#run(look);
  }

  override words(): Promise<Answer> {
    return this.#run(allWords);
  }

  async search(words: string): Promise<Answer> {
    const answer = await this.call(`${written(allWords)} | grep -i -C2 ${quoted(words)}`, {}, stale);
    if (!answer.failed) this.view.add(answer.text);
    return answer;
  }

  async click({ ref }: Thing, { yes, double }: { yes: boolean; double: boolean }): Promise<Answer> {
    // What has no reference is drawn, as in Node-RED, to which its double click does not come: two clicks do.
    const click = ['click', ref];
    const commands = double ? (ref.startsWith('@') ? [['dblclick', ref]] : [click, click]) : [click];
    const answer = await this.#run(...commands);
    if (!yes || !dialog.test(answer.text)) return answer;
    return this.#run(['dialog', 'accept']);
  }

  async fill(fields: readonly Fill[], submit: boolean): Promise<Answer> {
    // A list that the page draws takes text; then one of its options is clicked.
    const isList = ({ thing }: Fill) => !submit && thing.role === 'combobox' && !this.#options.has(thing.ref);
    const sliders = fields.filter(({ thing }) => thing.role === 'slider');
    const lists = fields.filter(isList);
    const others = fields.filter((one) => !isList(one) && !sliders.includes(one));
    const commands = others.flatMap((one) => this.#commands(one));
    if (submit) commands.push(['press', 'Enter']);
    const answers: Answer[] = [];
    if (commands.length > 0) answers.push(await this.#run(...commands, ...(submit ? [look] : [])));
    for (const one of lists) answers.push(await this.#choose(one));
    for (const { thing, value } of sliders) answers.push(await this.#approach(thing, Number(value)));
    return joined(answers);
  }

  /** Commands are chained; what takes a look in between, or is asked for by the page, is done by itself. */
  override several(steps: readonly Step[]): Promise<Several> | undefined {
    const single = (step: Step): boolean =>
      ('click' in step && step.yes) ||
      ('fill' in step &&
        step.fill.some(
          ({ thing }) =>
            thing.role === 'slider' || (thing.role === 'combobox' && !this.#options.has(thing.ref)),
        ));
    const first = steps.findIndex(single);
    const chained = first < 0 ? steps : steps.slice(0, first);
    if (chained.length < 2) return undefined;
    const commands = chained.flatMap((step): Command[] => {
      if ('click' in step) return [['click', step.click.ref]];
      if ('upload' in step) return [['upload', step.upload.ref, step.file]];
      return step.fill.flatMap((one) => this.#commands(one));
    });
    // A reference that is dead ends the chain; what was done before it can be done again.
    return this.#run(...commands).then((answer) => ({ ...answer, done: answer.failed ? 0 : chained.length }));
  }

  press(keys: string): Promise<Answer> {
    return this.#run(['press', keys]);
  }

  hover({ ref }: Thing): Promise<Answer> {
    return this.#run(['hover', ref]);
  }

  drag(from: Thing, to: Thing): Promise<Answer> {
    return this.#run(['drag', from.ref, to.ref]);
  }

  upload({ ref }: Thing, file: string): Promise<Answer> {
    return this.#run(['upload', ref, file]);
  }

  scroll({ ref }: Thing, y: number): Promise<Answer> {
    const [way, by] = y < 0 ? ['up', -y] : ['down', y];
    return this.#run(['scroll', way, String(by), '-s', ref], look);
  }

  slide({ ref }: Thing, from: number, to: number): Promise<Answer> {
    return this.#run(['focus', ref], repeated(towards(from, to), Math.abs(to - from)));
  }

  async wait(words: string): Promise<Answer> {
    const answer = await this.#run(['wait', '--text', words, '--timeout', '10000']);
    if (!answer.failed) this.view.add(answer.text);
    this.current = false;
    return answer;
  }

  /** It goes to a window that opens by itself. */
  other(): Promise<Answer> {
    return this.#run(['tab', 't2'], look);
  }

  first(): Promise<Answer> {
    return this.#run(['tab', 't1'], look);
  }

  /**
   * A button that is drawn anew too often for its reference is named by the words before it, and words that are covered
   * by what the answer names.
   */
  override inWords(thing: Thing, near: string | undefined, { text }: Answer): Thing | undefined {
    const [, inside] = over.exec(text) ?? [];
    if (inside !== undefined && !thing.ref.startsWith('@')) return { ...thing, ref: inside };
    if (near === undefined || thing.role !== 'button') return undefined;
    const words = byWords(near).slice('xpath='.length);
    return { ...thing, ref: `xpath=(${words}/following::button[normalize-space()='${thing.name}'])[1]` };
  }

  #commands({ thing: { ref, role }, value }: Fill): Command[] {
    if (typeof value === 'boolean') return [[value ? 'check' : 'uncheck', ref]];
    const text = String(value);
    if (role === 'combobox' && this.#options.has(ref)) return [['select', ref, text]];
    if (role === 'slider') return [];
    // A date of the browser has three fields and takes its digits in their order.
    const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
    if (role === 'spinbutton' && year !== undefined)
      return [['focus', ref], pressed([...`${month}${day}${year}`].join(' '))];
    // What is written in a frame has no reference of its own.
    if (role === 'Iframe')
      return [
        ['click', ref],
        ['keyboard', 'inserttext', text],
      ];
    return [['fill', ref, text]];
  }

  /** Takes an option of a list that the page draws, when it comes. */
  async #choose(field: Fill): Promise<Answer> {
    const option = String(field.value);
    const found = () => this.view.find({ role: 'option', name: option });
    const typed = await this.#run(...this.#commands(field), look);
    if (typed.failed) return typed;
    if (found() === undefined) {
      await this.wait(option);
      await this.look();
    }
    const thing = found();
    if (thing === undefined) return { text: `no option ${option}`, failed: true, stale: false };
    return this.click(thing, { yes: false, double: false });
  }

  /** Brings a slider of the browser to a value: one step, to see how far it goes, and then the others. */
  async #approach(thing: Thing, to: number): Promise<Answer> {
    const value = () => Number(/: (-?[\d.]+)$/.exec(this.view.find(thing)?.line ?? '')?.[1]);
    const from = value();
    const key = ['press', towards(from, to)];
    const answer = await this.#run(['focus', thing.ref], key, look);
    const left = Math.round((to - value()) / (value() - from));
    if (answer.failed || !(left > 0)) return answer;
    return this.#run(repeated(towards(from, to), left), look);
  }

  async #run(...commands: Command[]): Promise<Answer> {
    const answer = await this.call(commands.map(written).join(' && '), {}, stale);
    this.current =
      !answer.failed &&
      commands.at(-1)?.[0] === 'snapshot' &&
      this.#see(answer.text, commands.at(-1) === allWords);
    return answer;
  }

  /** Learns what a look says, which is behind the answers of the commands before it. */
  #see(text: string, wordsToo: boolean): boolean {
    const lines = text.split('\n');
    const at = lines.findIndex((line) => /^(- |\{$|unchanged \(|\(no interactive)/.test(line));
    if (at < 0) return false;
    const told = lines.slice(at);
    if (told[0]?.startsWith('unchanged')) return true;
    if (told[0] === '{') {
      const { treeChange } = Delta.parse(JSON.parse(told.join('\n')));
      if (treeChange) this.#tree.splice(treeChange.startLine, treeChange.deleteCount, ...treeChange.lines);
    } else if (!wordsToo) this.#tree = told;
    this.view.forget();
    this.view.add((wordsToo ? told : this.#tree).join('\n'));
    this.#learnOptions();
    return true;
  }

  // Lists of the browser have their options below them.
  #learnOptions(): void {
    let list: string | undefined;
    for (const line of this.#tree) {
      const [thing] = read(line);
      if (thing?.role === 'combobox') list = thing.ref;
      else if (thing?.role === 'option' && /^\s/.test(line) && list !== undefined) this.#options.add(list);
      else list = undefined;
    }
  }
}

const program = 'agent-browser --session errand';
const plain = /^[\w@./:=-]+$/;

/** A command of the program, or a line of the shell as it is. */
type Command = readonly string[] | string;

const pressed = (keys: string): string => `for k in ${keys}; do ${program} press $k; done`;

const repeated = (key: string, times: number): Command =>
  times === 1 ? ['press', key] : `for i in $(seq ${times}); do ${program} press ${key}; done`;

const written = (command: Command): string =>
  typeof command === 'string'
    ? command
    : [program, ...command.map((one) => (plain.test(one) ? one : quoted(one)))].join(' ');
