// chrome-devtools-mcp, with its defaults; acts are asked for the snapshot that they can add.

import type { Caller } from './caller.ts';
import { type Answer, Driver, type Fill, joined } from './driver.ts';
import type { Reader, Thing } from './view.ts';

const stale = /No such element|not found|stale|Element uid|detached/i;

const read: Reader = (line) => {
  const [, ref, role = '', name = ''] =
    /^\s*uid=(\d+_\d+) (?:([A-Za-z]+)(?: |$))?(?:"((?:[^"\\]|\\.)*)")?/.exec(line) ?? [];
  return ref === undefined ? [] : [{ ref, role, name: name.replaceAll(/\\(.)/g, '$1') }];
};

const whole = { includeSnapshot: true };

export class DevtoolsDriver extends Driver {
  #page = 1;

  constructor(caller: Caller, files: string) {
    super(caller, read, files);
  }

  async go(url: string): Promise<Answer> {
    const answer = await this.#call('navigate_page', { type: 'url', url });
    this.current = false;
    return answer;
  }

  look(): Promise<Answer> {
    return this.#call('take_snapshot', {});
  }

  /** It has none: the page is looked at. */
  search(): Promise<Answer> {
    return this.look();
  }

  async click({ ref }: Thing, { yes, double }: { yes: boolean; double: boolean }): Promise<Answer> {
    const answer = await this.#call('click', { uid: ref, ...(double && { dblClick: true }), ...whole });
    if (!yes || !/dialog/i.test(answer.text)) return answer;
    await this.#call('handle_dialog', { action: 'accept' });
    this.current = false;
    return { ...answer, failed: false };
  }

  async fill(fields: readonly Fill[], submit: boolean): Promise<Answer> {
    const elements = fields.map(({ thing, value }) => ({ uid: thing.ref, value: String(value) }));
    const [only] = elements;
    const answer =
      only !== undefined && elements.length === 1
        ? await this.#call('fill', { ...only, ...(!submit && whole) })
        : await this.#call('fill_form', { elements, ...(!submit && whole) });
    return submit && !answer.failed ? this.press('Enter') : answer;
  }

  press(key: string): Promise<Answer> {
    return this.#call('press_key', { key, ...whole });
  }

  hover({ ref }: Thing): Promise<Answer> {
    return this.#call('hover', { uid: ref, ...whole });
  }

  drag(from: Thing, to: Thing): Promise<Answer> {
    return this.#call('drag', { from_uid: from.ref, to_uid: to.ref, ...whole });
  }

  upload({ ref }: Thing, file: string): Promise<Answer> {
    return this.#call('upload_file', { uid: ref, filePaths: [file], ...whole });
  }

  scroll({ ref }: Thing, y: number): Promise<Answer> {
    return this.#call('evaluate_script', {
      function: `(element) => element.scrollBy(0, ${y})`,
      args: [ref],
    });
  }

  async slide(thing: Thing, from: number, to: number): Promise<Answer> {
    const answers = [await this.click(thing, { yes: false, double: false })];
    const key = to > from ? 'ArrowRight' : 'ArrowLeft';
    for (let left = Math.abs(to - from); left > 0; left--) answers.push(await this.press(key));
    return joined(answers);
  }

  wait(words: string): Promise<Answer> {
    return this.#call('wait_for', { text: [words], timeout: 10_000 });
  }

  async other(): Promise<Answer> {
    const { text } = await this.#call('list_pages', {});
    const ids = Array.from(text.matchAll(/^(\d+): /gm), ([, id]) => Number(id));
    const other = ids.find((id) => id !== 1);
    this.#page = other ?? 1;
    this.current = false;
    return { text, failed: other === undefined, stale: false };
  }

  async first(): Promise<Answer> {
    this.#page = 1;
    this.current = false;
    return { text: '', failed: false, stale: false };
  }

  async #call(name: string, args: Record<string, unknown>): Promise<Answer> {
    const routed = name === 'list_pages' ? args : { pageId: this.#page, ...args };
    const answer = await this.call(name, routed, stale);
    // It answers some failures without saying so.
    const failed = answer.failed || /^(Error|Input validation error)/.test(answer.text);
    const shown = answer.text.includes('## Latest page snapshot');
    if (shown) {
      this.view.forget();
      this.view.add(answer.text);
    }
    this.current = shown;
    return { ...answer, failed, stale: failed && stale.test(answer.text) };
  }
}
