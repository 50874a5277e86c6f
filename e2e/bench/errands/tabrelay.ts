// tabrelay's browser tools: an act answers what it changed.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { inFull } from '../../stage/columns.ts';
import type { Caller } from './caller.ts';
import { type Answer, Driver, type Fill, type Several, type Step } from './driver.ts';
import { type Reader, type Thing, View } from './view.ts';

const stale = /\bcode(?:":"|=)(REF_GONE|DOCUMENT_CHANGED|FRAME_GONE)\b/;

// The page drew the thing anew under the pointer: it has to be clicked again.
const noClick = /^note: .*: it got no click\b/m;

const unquote = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

// What a row holds is its name.
const wordsIn = (line: string): string =>
  Array.from(line.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, words = '']) => unquote(words)).join(' ');

const read: Reader = (line) =>
  Array.from(
    line.matchAll(/([a-z][a-z0-9]*)(?: "((?:[^"\\]|\\.)*)")? \[((?:f\d+)?e\d+)\]/g),
    ([, role = '', name = '', ref = '']) => ({
      ref,
      role,
      name: role === 'row' ? wordsIn(line) : unquote(name),
    }),
  );

// What was done, before what it was done to; steps have numbers.
const done = /^(?:\d+\. )?(?:[a-z]+ )+/;

export class TabrelayDriver extends Driver {
  #tab: number | undefined;
  #first: number | undefined;
  #firstView = this.view;
  #opened: number | undefined;

  constructor(caller: Caller) {
    super(caller, read);
  }

  go(to: string): Promise<Answer> {
    return this.#arrive({ to, look: true });
  }

  override goUntil(to: string, until: string): Promise<Answer> {
    return this.#arrive({ to, until });
  }

  async #arrive(args: object): Promise<Answer> {
    const answer = await this.#call('navigate', { ...args });
    this.#first = tabIn(/ in tab (\d+)$/m, answer.text);
    this.view.forget();
    this.view.add(lookIn(answer.text));
    this.current = true;
    return answer;
  }

  async look(): Promise<Answer> {
    const answer = await this.#call('snapshot', {});
    this.#learn(answer.text);
    return answer;
  }

  /** The whole page, also what the default budget leaves for later. */
  lookAtAll(): Promise<Answer> {
    return this.#call('snapshot', { full: true, maxTokens: 50_000 });
  }

  async search(text: string): Promise<Answer> {
    const answer = await this.#call('find', { text });
    if (!answer.failed) this.view.add(answer.text);
    return answer;
  }

  async click({ ref }: Thing, { yes, double }: { yes: boolean; double: boolean }): Promise<Answer> {
    const args = { ref, ...(double && { count: 2 }) };
    const answer = await this.#act('click', args);
    const asked = yes && /^dialogs: /m.test(answer.text);
    if (asked) return this.#act('click', { ...args, dialogs: 'accept' });
    return { ...answer, stale: answer.stale || noClick.test(answer.text) };
  }

  fill(fields: readonly Fill[], submit: boolean): Promise<Answer> {
    return this.#act('fill', { fields: sent(fields), ...(submit && { submit }) });
  }

  override several(steps: readonly Step[], until?: string): Promise<Several> | undefined {
    const frames = new Set(steps.flatMap(refsIn).map((ref) => /^(?:f\d+)?/.exec(ref)?.[0]));
    return frames.size > 1 ? undefined : this.#several(steps, until); // each is of one frame
  }

  async #several(steps: readonly Step[], until: string | undefined): Promise<Several> {
    const asked: Record<string, unknown>[] = [];
    for (const step of steps) {
      if ('click' in step) asked.push({ tool: 'click', ref: step.click.ref });
      else if ('upload' in step)
        asked.push({ tool: 'upload', ref: step.upload.ref, files: [await given(step.file)] });
      else asked.push({ tool: 'fill', fields: sent(step.fill) });
    }
    Object.assign(asked.at(-1) ?? {}, until === undefined ? {} : { until });
    const answer = await this.#act('act', { steps: asked });
    const failed = Number(/Step (\d+) of \d+ /.exec(answer.text)?.[1] ?? 1);
    if (answer.failed) return { ...answer, done: failed - 1 };
    const done = steps.length - Number(/^notDone: (\d+)$/m.exec(answer.text)?.[1] ?? 0);
    const last = steps[done - 1];
    // A question of the page is answered with no: who knows the answer gives it with the same click again.
    const asks = last !== undefined && 'click' in last && last.yes && /^dialogs: /m.test(answer.text);
    if (!asks) return { ...answer, done };
    return { ...(await this.#act('click', { ref: last.click.ref, dialogs: 'accept' })), done };
  }

  press(keys: string): Promise<Answer> {
    return this.#act('press', { keys });
  }

  hover({ ref }: Thing): Promise<Answer> {
    return this.#act('pointer', { action: 'hover', ref });
  }

  drag(from: Thing, to: Thing): Promise<Answer> {
    return this.#act('pointer', { action: 'drag', ref: from.ref, to: to.ref });
  }

  async upload({ ref }: Thing, file: string): Promise<Answer> {
    return this.#act('upload', { ref, files: [await given(file)] });
  }

  scroll({ ref }: Thing, y: number): Promise<Answer> {
    return this.#act('pointer', { action: 'scroll', ref, at: { y } });
  }

  slide(thing: Thing, _: number, value: number): Promise<Answer> {
    return this.fill([{ thing, value }], false);
  }

  // The answer has what is different since the last look, or the lines with the words, as that of find.
  async wait(text: string): Promise<Answer> {
    const answer = await this.#call('wait', { text });
    const news = answer.text.split('\n').filter((line) => /^[+~-] /.test(line));
    this.current = !answer.failed && news.length > 0;
    if (this.current) this.#apply(news);
    else if (!answer.failed) this.view.add(answer.text);
    return answer;
  }

  async other(): Promise<Answer> {
    this.#tab = this.#opened;
    this.#firstView = this.view; // a look at a tab that was seen before tells what changed
    this.view = new View(read);
    this.current = false;
    return { text: '', failed: this.#tab === undefined, stale: false };
  }

  async first(): Promise<Answer> {
    this.#tab = this.#first;
    this.view = this.#firstView;
    this.current = false;
    return { text: '', failed: false, stale: false };
  }

  override async run(script: string): Promise<Answer> {
    const answer = await this.call('relay__run', { script }, stale);
    this.current = false;
    return answer;
  }

  override inWords(thing: Thing, near: string | undefined, { text }: Answer): Thing | undefined {
    const [, said = '', beside = '…'] = /Pass as ref [^:]*: (.*) in \\?"(.*?)\\?"/.exec(text) ?? [];
    const words = beside === '…' ? near : beside;
    if (said === '' || words === undefined) return undefined;
    return { ...thing, ref: `${said.replaceAll('\\"', '"')} in ${JSON.stringify(words)}` };
  }

  #call(tool: string, args: Record<string, unknown>): Promise<Answer> {
    const tab = this.#tab === undefined ? {} : { tabId: this.#tab };
    return this.call(`browser__${tool}`, { ...args, ...tab }, stale);
  }

  async #act(tool: string, args: Record<string, unknown>): Promise<Answer> {
    const answer = await this.#call(tool, args);
    if (answer.failed) return answer;
    const page = lookIn(answer.text);
    if (page === '') this.#apply(answer.text.split('\n'));
    else {
      this.view.forget();
      this.view.add(page);
    }
    this.current = true; // what an act changed is its answer
    this.#opened = tabIn(/^opened: tab (\d+) /m, answer.text) ?? this.#opened;
    return answer;
  }

  #learn(text: string): void {
    this.current = true;
    if (text.startsWith('unchanged')) return;
    if (text.startsWith('changed')) this.#apply(text.split('\n'));
    else {
      this.view.forget();
      this.view.add(inFull(text));
    }
  }

  // Lines with + are new, ~ different, - gone; what is told of what was acted on is how that is now.
  #apply(lines: readonly string[]): void {
    const added = lines.filter((line) => line.startsWith('+ ')).map((line) => line.slice(2));
    this.view.add(added.join('\n'));
    for (const line of lines) {
      const rest = line.slice(2);
      if (line.startsWith('~ drawn anew')) this.#renamed(line);
      else if (line.startsWith('~ ')) this.view.change(rest);
      else if (line.startsWith('- ')) this.#remove(rest);
      else if (done.test(line) && /\] (?:→|= )/.test(line)) this.view.change(line.replace(done, ''));
    }
  }

  // What was drawn anew is as it was, but for its references and the words that are said to be others.
  #renamed(line: string): void {
    const words = Array.from(line.matchAll(/("(?:[^"\\]|\\.)*") → ("(?:[^"\\]|\\.)*")/g));
    const names = new Map<string, string>();
    for (const [, was = '', is = ''] of line.matchAll(/(f?\d*e\d[^ ,]*) → (f?\d*e\d[^ ,]*)/g)) {
      const now = rangesOf(is);
      for (const [n, ref] of rangesOf(was).entries()) names.set(ref, now[n] ?? ref);
    }
    this.view.rename(
      names,
      words.map(([, was = '', is = '']) => [was, is] as const),
    );
  }

  // Of many lines only the references are told: those of one by one, or from the first to the last.
  #remove(line: string): void {
    const [, refs] = /^(?:all before|\d+ lines).* \((f?\d*e\d[^()]*)\)$/.exec(line) ?? [];
    if (refs === undefined) this.view.remove(line);
    else for (const ref of rangesOf(refs)) this.view.forgetThing(ref);
  }
}

// The look at the page that came, which an answer ends with.
function lookIn(text: string): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith('page '));
  return at < 0 ? '' : inFull(lines.slice(at).join('\n'));
}

const tabIn = (pattern: RegExp, text: string): number | undefined => {
  const [, found] = pattern.exec(text) ?? [];
  return found === undefined ? undefined : Number(found);
};

const rangesOf = (refs: string): string[] =>
  refs.split(', ').flatMap((one) => {
    const [, frame = '', first, last = first] = /^((?:f\d+)?)e(\d+)(?:-(?:f\d+)?e(\d+))?$/.exec(one) ?? [];
    if (first === undefined) return [];
    const count = Number(last) - Number(first) + 1;
    return Array.from({ length: count }, (_, n) => `${frame}e${Number(first) + n}`);
  });

const sent = (fields: readonly Fill[]): object[] =>
  fields.map(({ thing, value }) => ({ ref: thing.ref, value }));

const refsIn = (step: Step): string[] => {
  if ('fill' in step) return step.fill.map(({ thing }) => thing.ref);
  return ['click' in step ? step.click.ref : step.upload.ref];
};

const given = async (file: string): Promise<object> => ({
  name: path.basename(file),
  text: await readFile(file, 'utf8'),
});
