// Lists of a page's own making: boxes that offer options when they are asked, and lists that show them.
import { attribute, documentFor, isElement, isHtml, isTextField, plain } from './dom.ts';
import { NotDone } from './failure.ts';
import {
  answer,
  eventually,
  type Filled,
  lateMs,
  pick,
  type Task,
  textOf,
  untilMs,
  wrong,
} from './fields.ts';
import { strokeFor } from './keys.ts';
import { focusOn, pressAndRelease } from './mouse.ts';
import type { Page } from './page.ts';
import { ready, type Spot } from './target.ts';
import { Clipboard, replaceValue } from './text.ts';
import { stroke } from './typing.ts';

const optionMs = 3000; // for options that come over the network

const shownElement = (one: Element) =>
  one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;

/** The options that a box shows at present: those of its own list first. */
function optionsOf(box: Element, before: ReadonlySet<Element>): Element[] {
  const root = box.getRootNode();
  const owner = documentFor(box);
  const ids = ['aria-controls', 'aria-owns']
    .flatMap((name) => (attribute(box, name) ?? '').split(/\s+/))
    .filter(Boolean);
  const scopes: Element[] = [];
  for (const id of ids)
    for (const scope of [root, owner]) {
      const found =
        scope instanceof Document || scope instanceof ShadowRoot ? scope.getElementById(id) : null;
      if (found !== null) scopes.push(found);
    }
  const within = (scope: ParentNode) =>
    Array.from(scope.querySelectorAll('[role=option],option')).filter(shownElement);
  const own = scopes.flatMap(within);
  if (own.length > 0) return own;
  return within(owner).filter((one) => !before.has(one));
}

const optionText = (one: Element) =>
  attribute(one, 'aria-label') ?? plain(isHtml(one) ? one.innerText : (one.textContent ?? ''));
const optionValue = (one: Element) => attribute(one, 'data-value') ?? attribute(one, 'value') ?? '';

/** Chooses in a box that offers options, or types into it. */
export async function fillCombobox(task: Task): Promise<Filled> {
  const { target, value, page, ref } = task;
  const typed = isTextField(target) ? target : undefined;
  const wanted = textOf(value);
  const before = new Set(
    Array.from(documentFor(target).querySelectorAll('[role=option]')).filter(shownElement),
  );
  const shown = () => {
    const at = page.resolve(ref);
    if (!isElement(at)) return '';
    return isTextField(at) ? at.value : plain(isHtml(at) ? at.innerText : (at.textContent ?? ''));
  };
  const was = shown();
  if (typed === undefined && plain(was) === plain(wanted))
    return answer(task, was, true, 'it was so already');
  if (attribute(target, 'aria-expanded') !== 'true' || typed !== undefined) {
    const spot = await ready(page, ref, { uncovered: true, enabled: true });
    pressAndRelease(spot, { button: 'left', count: 1, modifiers: [] });
    await page.pause(0);
  }
  if (typed !== undefined) {
    if (isHtml(typed)) focusOn(typed);
    typeOver(typed, wanted);
  }
  const find = () => pick(optionsOf(target, before), wanted, optionText, optionValue);
  const expects =
    typed === undefined ||
    attribute(target, 'aria-autocomplete') !== null ||
    attribute(target, 'aria-controls') !== null ||
    attribute(target, 'aria-expanded') !== null;
  const found = await eventually(page, expects ? optionMs : lateMs, () => find() !== undefined);
  const option = found ? find() : undefined;
  if (option === undefined) {
    const some = optionsOf(target, before)
      .slice(0, 20)
      .map((one) => JSON.stringify(optionText(one)));
    const offered = some.length === 0 ? 'no option was offered' : `what is offered: ${some.join(', ')}`;
    const now = shown();
    return answer(task, now, typed !== undefined && now === wanted && some.length === 0, offered);
  }
  const label = optionText(option);
  const chosen = await reach(page, find);
  if (chosen === undefined)
    return answer(task, shown(), false, `the option ${JSON.stringify(label)} went away again`);
  pressAndRelease(chosen, { button: 'left', count: 1, modifiers: [] });
  const same = () => {
    const now = plain(shown());
    return now === label || now === plain(wanted) || (now !== plain(was) && now.includes(label));
  };
  await eventually(page, lateMs, same);
  return answer(
    task,
    shown(),
    same(),
    same() ? undefined : `the option ${JSON.stringify(label)} was clicked once`,
  );
}

// Lists are drawn anew with every answer of the network: the option is looked for again where it went away.
async function reach(page: Page, find: () => Element | undefined): Promise<Spot | undefined> {
  const until = performance.now() + optionMs;
  do {
    const option = find();
    try {
      if (option !== undefined)
        return await ready(page, page.reference(option), { uncovered: true, enabled: true });
    } catch (why) {
      if (!(why instanceof NotDone) || why.code !== 'REF_GONE') throw why;
    }
    await page.pause(untilMs);
  } while (performance.now() < until);
  return undefined;
}

// Typed as a person types, over what is there: boxes that offer options listen to the keys.
function typeOver(field: HTMLInputElement | HTMLTextAreaElement, text: string): void {
  const owner = documentFor(field);
  const clipboard = new Clipboard();
  field.select();
  if (text === '') replaceValue(field, '');
  for (const character of text) stroke(owner, strokeFor(character), clipboard);
}

/** Chooses in a list that shows its options. */
export async function fillListbox(task: Task): Promise<Filled> {
  const { target, value, page } = task;
  const wanted = Array.isArray(value) ? value : [String(value)];
  const all = () => Array.from(target.querySelectorAll('[role=option],[role=radio]')).filter(shownElement);
  const found = wanted.map((one) => pick(all(), one, optionText, optionValue));
  const missing = wanted.find((_, i) => found[i] === undefined);
  if (missing !== undefined) {
    const some = all()
      .slice(0, 30)
      .map((one) => JSON.stringify(optionText(one)));
    throw wrong(
      `${page.describe(target)} has no option ${JSON.stringify(missing)}`,
      `It shows ${some.join(', ')}`,
    );
  }
  const many = attribute(target, 'aria-multiselectable') === 'true';
  if (wanted.length > 1 && !many) throw wrong(`${page.describe(target)} takes one option`);
  const on = (one: Element) =>
    attribute(one, 'aria-selected') === 'true' || attribute(one, 'aria-checked') === 'true';
  for (const one of all()) {
    const want = found.includes(one);
    if (on(one) === want || (!want && !many)) continue;
    const spot = await ready(page, page.reference(one), { uncovered: true, enabled: true });
    pressAndRelease(spot, { button: 'left', count: 1, modifiers: [] });
    await eventually(page, lateMs, () => on(one) === want);
  }
  const now = all().filter(on).map(optionText);
  const names = found.map((one) => (one === undefined ? '' : optionText(one)));
  const verified = now.length === names.length && names.every((name) => now.includes(name));
  return answer(task, many ? now : (now[0] ?? ''), verified);
}
