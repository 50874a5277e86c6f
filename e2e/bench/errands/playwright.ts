// Playwright MCP, with its defaults: acts answer with a link to a file, so that what an act did takes a look.

import type { Caller } from './caller.ts';
import { type Answer, Driver, type Fill, joined } from './driver.ts';
import type { Reader, Thing } from './view.ts';

const stale = /not found in the current page snapshot|Element is not attached/;

const unquote = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

const read: Reader = (line) => {
  const ref = /\[ref=((?:f\d+)?e\d+)\]/.exec(line)?.[1];
  if (ref === undefined) return [];
  const [, role = '', name, text] =
    /^\s*- '?(?:<changed> )?([a-z]+)(?: "((?:[^"\\]|\\.)*)")?[^:]*(?:: (.*))?/.exec(line) ?? [];
  return [{ ref, role, name: unquote(name ?? text ?? '') }];
};

const isText = ({ role }: Thing): boolean => /^(textbox|searchbox|spinbutton|combobox|generic)$/.test(role);

export class PlaywrightDriver extends Driver {
  #url = '';
  #options = new Set<string>();

  constructor(caller: Caller, files: string) {
    super(caller, read, files);
  }

  async go(url: string): Promise<Answer> {
    return this.#acted(await this.call('browser_navigate', { url }, stale));
  }

  async look(): Promise<Answer> {
    const answer = await this.call('browser_snapshot', {}, stale);
    this.view.forget();
    this.#learn(answer);
    return answer;
  }

  async search(words: string): Promise<Answer> {
    const answer = await this.call('browser_find', { text: words }, stale);
    this.#learn(answer);
    return answer;
  }

  async click({ ref, name, role }: Thing, { yes, double }: { yes: boolean; double: boolean }) {
    const element = `${name} ${role}`.trim();
    const args = { element, target: ref, ...(double && { doubleClick: true }) };
    const answer = this.#acted(await this.call('browser_click', args, stale));
    if (!yes || !answer.text.includes('### Modal state')) return answer;
    return this.#acted(await this.call('browser_handle_dialog', { accept: true }, stale));
  }

  async fill(fields: readonly Fill[], submit: boolean): Promise<Answer> {
    // A list of the page's own takes text as a text field does; then one of its options is clicked.
    const lists = fields.filter(({ thing }) => thing.role === 'combobox' && !this.#options.has(thing.ref));
    const others = fields.filter((one) => !lists.includes(one));
    const answers: Answer[] = [];
    const [only] = others;
    if (only !== undefined && others.length === 1 && isText(only.thing) && only.thing.role !== 'combobox')
      answers.push(await this.#type(only, submit && lists.length === 0));
    else if (others.length > 0) answers.push(await this.#form(others));
    for (const one of lists) answers.push(await this.#choose(one));
    if (submit && (others.length > 1 || lists.length > 0)) answers.push(await this.press('Enter'));
    return joined(answers);
  }

  async press(keys: string): Promise<Answer> {
    return this.#acted(await this.call('browser_press_key', { key: keys }, stale));
  }

  async hover({ ref, name, role }: Thing): Promise<Answer> {
    const args = { element: `${name} ${role}`.trim(), target: ref };
    return this.#acted(await this.call('browser_hover', args, stale));
  }

  async drag(from: Thing, to: Thing): Promise<Answer> {
    const ends = { startElement: from.name, startTarget: from.ref, endElement: to.name, endTarget: to.ref };
    return this.#acted(await this.call('browser_drag', ends, stale));
  }

  async upload(thing: Thing, file: string): Promise<Answer> {
    await this.click(thing, { yes: false, double: false });
    return this.#acted(await this.call('browser_file_upload', { paths: [file] }, stale));
  }

  async scroll({ ref, name }: Thing, y: number): Promise<Answer> {
    const scrolls = `(element) => element.scrollBy(0, ${y})`;
    return this.#acted(
      await this.call('browser_evaluate', { element: name, target: ref, function: scrolls }, stale),
    );
  }

  async slide(thing: Thing, from: number, to: number): Promise<Answer> {
    const answers = [await this.click(thing, { yes: false, double: false })];
    const key = to > from ? 'ArrowRight' : 'ArrowLeft';
    for (let left = Math.abs(to - from); left > 0; left--) answers.push(await this.press(key));
    return joined(answers);
  }

  async wait(words: string): Promise<Answer> {
    return this.#acted(await this.call('browser_wait_for', { text: words }, stale));
  }

  async other(): Promise<Answer> {
    return this.#acted(await this.call('browser_tabs', { action: 'select', index: 1 }, stale));
  }

  override async run(code: string): Promise<Answer> {
    return this.call('browser_run_code_unsafe', { code }, stale);
  }

  async first(): Promise<Answer> {
    return this.#acted(await this.call('browser_tabs', { action: 'select', index: 0 }, stale));
  }

  async #type({ thing, value }: Fill, submit: boolean): Promise<Answer> {
    const args = { element: `${thing.name} ${thing.role}`.trim(), target: thing.ref, text: String(value) };
    const answer = await this.call('browser_type', { ...args, ...(submit && { submit }) }, stale);
    return submit ? this.#acted(answer) : answer;
  }

  async #form(fields: readonly Fill[]): Promise<Answer> {
    const kind = ({ role }: Thing): string =>
      /^(checkbox|switch)$/.test(role)
        ? 'checkbox'
        : /^(radio|combobox|slider)$/.test(role)
          ? role
          : 'textbox';
    const sent = fields.map(({ thing, value }) => ({
      name: thing.name,
      type: kind(thing),
      target: thing.ref,
      value: String(value),
    }));
    return this.call('browser_fill_form', { fields: sent }, stale);
  }

  async #choose({ thing, value }: Fill): Promise<Answer> {
    const typed = await this.#type({ thing, value }, false);
    if (typed.failed) return typed;
    const option = () => this.view.find({ role: 'option', name: String(value) });
    await this.look();
    if (option() === undefined) {
      await this.wait(String(value));
      await this.look();
    }
    const found = option();
    if (found === undefined) return { text: `no option ${value}`, failed: true, stale: false };
    return this.click(found, { yes: false, double: false });
  }

  // What an act did is not in its answer: the next step that needs to know has to look.
  #acted(answer: Answer): Answer {
    const url = /- Page URL: (.*)/.exec(answer.text)?.[1] ?? this.#url;
    if (url !== this.#url) this.view.forget();
    this.#url = url;
    this.current = false;
    return answer;
  }

  #learn({ text }: Answer): void {
    this.view.add(text);
    let list: string | undefined;
    for (const line of text.split('\n')) {
      const [thing] = read(line);
      if (thing?.role === 'combobox') list = thing.ref;
      else if (/^\s*- option /.test(line) && list !== undefined) this.#options.add(list);
      else list = undefined;
    }
    this.current = true;
  }
}
