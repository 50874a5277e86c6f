// Lists of a page's own making: boxes that offer options when they are asked, and lists that show them.
import { isReplaced } from '../drawn.ts';
import { contentName } from '../names.ts';
import {
  attribute,
  boxOf,
  controlledBy,
  displayedIn,
  documentFor,
  everywhere,
  fits,
  focusedIn,
  isConnected,
  isElement,
  isHtml,
  isInput,
  isTextField,
  nearest,
  plain,
  tagOf,
  upwards,
  windowOf,
  within,
} from './dom.ts';
import { NotDone } from './failure.ts';
import {
  answer,
  eventually,
  type Filled,
  lateMs,
  pick,
  type Reading,
  searching,
  type Task,
  textOf,
  untilMs,
  wrong,
} from './fields.ts';
import { strokeFor } from './keys.ts';
import { focusOn, pressAndRelease } from './mouse.ts';
import type { Page } from './page.ts';
import { shut } from './shutting.ts';
import { ready, type Spot } from './target.ts';
import { Clipboard, replaceValue } from './text.ts';
import { stroke } from './typing.ts';

const optionMs = 3000; // for options that come over the network
const offeredMs = 100; // for a list to be drawn
const mostAround = 2000; // characters
const mostTold = 20; // options

function shownElement(one: Element): boolean {
  const select = one.localName === 'option' ? nearest(one, 'select') : null;
  const drawn = one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length > 0;
  return drawn && (select === null || !isReplaced(select));
}

// Some lists are there for screen readers alone, in a box without an extent: people see another element of that text.
function seenFor(option: Element): Element {
  if (fits(option, '[role=treeitem]')) return itemTexts(option)[0]?.parentElement ?? option;
  const list = nearest(option, '[role=listbox]');
  if (list === null || hasExtent(list)) return option;
  const text = optionText(option);
  for (const around of Array.from(upwards(list)).slice(1, 5)) {
    const all = Array.from(around.querySelectorAll('*')).filter(
      (one) => !list.contains(one) && one.childElementCount === 0 && plain(one.textContent ?? '') === text,
    );
    const seen = all.find((one) => shownElement(one) && hasExtent(one));
    if (seen !== undefined) return seen;
  }
  return option;
}

function hasExtent(element: Element): boolean {
  const { width, height } = boxOf(element);
  return width > 1 && height > 1;
}

const offers = '[role=option],[role=treeitem],option';

const shownOptions = (scope: Element) =>
  displayedIn(scope).filter((one) => fits(one, offers) && shownElement(one));

/** The options of a box's own list that are shown at present. */
function ownOptions(box: Element): Element[] {
  return controlledBy(box).flatMap(shownOptions);
}

/** The options that a box shows at present: those of its own list first. */
function optionsOf(box: Element, before: ReadonlySet<Element>): Element[] {
  const own = ownOptions(box);
  if (own.length > 0) return own;
  return everywhere(documentFor(box), offers).filter(
    (one) => shownElement(one) && !before.has(one) && !within(box, one) && !leadsElsewhere(one),
  );
}

// An item of a tree for finding one's way in the site.
const leadsElsewhere = (one: Element) =>
  fits(one, '[role=treeitem]') &&
  (one.querySelector('a[href]') !== null || nearest(one, 'nav,a[href]') !== null);

const optionText = (one: Element) => attribute(one, 'aria-label') ?? (wordsOf(one) || contentName(one));

function wordsOf(option: Element): string {
  if (fits(option, '[role=treeitem]'))
    return plain(
      itemTexts(option)
        .map((one) => one.data)
        .join(' '),
    );
  return plain(isHtml(option) ? option.innerText : (option.textContent ?? ''));
}

// Items of a tree hold those below them.
function itemTexts(item: Element): Text[] {
  const texts = documentFor(item).createTreeWalker(item, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
    if (node instanceof windowOf(node).Text && node.parentElement !== null)
      if (nearest(node.parentElement, '[role=treeitem]') === item && plain(node.data) !== '')
        found.push(node);
  return found;
}

const optionValue = (one: Element) => attribute(one, 'data-value') ?? attribute(one, 'value') ?? '';

const isOn = (one: Element) =>
  attribute(one, 'aria-selected') === 'true' ||
  attribute(one, 'aria-checked') === 'true' ||
  displayedIn(one).some((at) => isInput(at) && at.type === 'checkbox' && at.checked);
const takesSeveral = (option: Element) => nearest(option, '[aria-multiselectable=true]') !== null;
const isAtKeys = (box: Element, option: Element) =>
  attribute(box, 'aria-activedescendant') === option.id || documentFor(option).activeElement === option;
// Some lists say of the one that the keys are at, too, that it is selected; not those of which several can be chosen.
const isKept = (box: Element, option: Element) =>
  isOn(option) && (takesSeveral(option) || !isAtKeys(box, option));
// Where a box does not say whether it is open, its list does.
const isOpen = (box: Element) =>
  attribute(box, 'aria-expanded') === 'true' ||
  (!box.hasAttribute('aria-expanded') && ownOptions(box).length > 0);

/** Fills a box that offers options, and looks later whether it kept what it was given. */
export async function fillCombobox(task: Task): Promise<Reading> {
  const { target } = task;
  const was = shownIn(task);
  const filled = await chooseOrType(task);
  const held = shownIn(task);
  if (!isTextField(target) || held === '' || held === was) return { filled };
  const again = () => {
    const now = shownIn(task);
    const tookBack = isConnected(target) && (now === '' || now === was);
    return tookBack ? answer(task, now, false, 'the page took back what was typed') : filled;
  };
  return { filled, again };
}

// One value, or those of a list one after the other; what that opened is closed again.
async function chooseOrType(task: Task): Promise<Filled> {
  const { value, target } = task;
  const values = Array.isArray(value) ? value : [value];
  const isShut = watchList(task);
  const done: Filled[] = [];
  for (const one of values) {
    done.push(await chooseOne({ ...task, value: one }, values.length > 1));
    if (done.at(-1)?.verified !== true) break;
  }
  const [first] = done;
  const single = !Array.isArray(value) && first !== undefined ? first : undefined;
  if (single !== undefined && !single.verified) return single;
  const before = shownIn(task);
  const left = isConnected(target) && !(await isShut());
  if (single !== undefined) {
    const now = shownIn(task);
    if (now !== before && now !== single.value)
      return answer(task, now, false, 'it was taken back with its list');
    return left ? { ...single, note: noted(single.note, 'its list is still open') } : single;
  }
  const last = done.at(-1);
  const verified = done.length === values.length && done.every((one) => one.verified);
  const chosen = done.flatMap((one) => (one.verified && typeof one.value === 'string' ? [one.value] : []));
  const now = shownIn(task) || (chosen.length > 0 ? chosen : '');
  return answer(task, now, verified, verified ? undefined : last?.note);
}

const noted = (...notes: (string | undefined)[]): string => notes.filter(Boolean).join('; ');

// Closes the list of a box later, where it is open only since now.
function watchList({ page, ref, target: box }: Task): () => Promise<boolean> {
  const before = new Set(everywhere(documentFor(box), offers).filter(shownElement));
  const says = box.hasAttribute('aria-expanded');
  const isListOpen = () => isOpen(box) || (!says && optionsOf(box, before).length > 0);
  if (!says && isOpen(box)) return async () => true; // nothing closes such a list
  return () => shut({ page, ref, box, isOpen: isListOpen });
}

function shownIn({ page, ref }: Task): string {
  const at = page.resolve(ref);
  if (!isElement(at)) return '';
  if (isTextField(at)) return at.value;
  const holdsList = at.querySelector(listed) !== null;
  const texts = holdsList ? textsIn(at).join(' ') : isHtml(at) ? at.innerText : (at.textContent ?? '');
  // What a component draws of its own is in its shadow, beside its list.
  return plain(texts) || (holdsList && !isOpen(at) ? contentName(at) : '');
}

async function chooseOne(task: Task, several: boolean): Promise<Filled> {
  const { target, value, page, ref } = task;
  const typed = isTextField(target) && !target.readOnly ? target : undefined;
  const wanted = textOf(value);
  // Of a field that is no combobox it is not known whether it takes words of one's own as well.
  const free = typed !== undefined && !fits(target, '[role=combobox],[aria-autocomplete=list]');
  const before = new Set(everywhere(documentFor(target), offers).filter(shownElement));
  const shown = () => shownIn(task);
  const was = shown();
  const closed = textsAround(target);
  const wasFocused = focusedIn(documentFor(target));
  if (typed === undefined && plain(was) === plain(wanted))
    return answer(task, was, true, 'it was already so');
  if (isOpen(target))
    before.clear(); // the list that is open is its own
  else {
    const spot = await ready(page, ref, { uncovered: true, enabled: true });
    await pressAndRelease(spot, { button: 'left', count: 1, modifiers: [] });
    await page.pause(0);
  }
  const offered = () => optionsOf(target, before);
  let latest: readonly string[] = []; // the options that it offered last
  const find = () => {
    const all = offered();
    if (all.length > 0) latest = all.slice(0, mostTold).map(optionText);
    const said = (one: Element) => [optionText(one), optionValue(one)].includes(wanted);
    return pick(free ? all.filter(said) : all, wanted, optionText, optionValue);
  };
  const exactly = () => offered().some((one) => [optionText(one), optionValue(one)].includes(wanted));
  const expects =
    typed === undefined ||
    attribute(target, 'aria-autocomplete') !== null ||
    attribute(target, 'aria-controls') !== null ||
    attribute(target, 'aria-expanded') !== null;
  if (typed !== undefined && expects) await eventually(page, offeredMs, () => offered().length > 0);
  find();
  if (typed === undefined && !(await eventually(page, offeredMs, () => find() !== undefined))) {
    const search = searchFieldIn(target);
    if (search !== undefined && search !== wasFocused) typeOver(search, wanted);
  }
  // What is offered at once need not be looked for by typing.
  if (typed !== undefined && !(isOpen(target) && (await eventually(page, offeredMs, exactly)))) {
    if (isHtml(typed)) focusOn(typed);
    typeOver(typed, wanted);
  }
  const found = await eventually(page, expects && !free ? optionMs : lateMs, () => find() !== undefined);
  const option = found ? find() : undefined;
  const typedIn = typed !== undefined && shown() === wanted;
  if (option === undefined) return notOffered(task, latest, typedIn, free);
  const label = optionText(option);
  const open = textsAround(target);
  const chips = countOf(open, label);
  // A click on what is chosen already would take it away again. One that the keys are at is so where the box shows it.
  const isChosen =
    isKept(target, option) || (isOn(option) && (chips > 0 || (typed === undefined && was.includes(label))));
  if ((several || takesSeveral(option)) && isChosen)
    return answer(task, shown() || label, true, 'it was already so');
  const chosen = await reach(page, find);
  if (chosen === undefined)
    return answer(task, shown(), false, `the option ${JSON.stringify(label)} went away again`);
  await pressAndRelease(chosen, { button: 'left', count: 1, modifiers: [] });
  // Words that were typed already say nothing of the click: what it did is seen in the list.
  const typedAll = typed !== undefined && [label, plain(wanted)].includes(plain(shown()));
  const same = () => {
    const now = plain(shown());
    const isShown = now === label || now === plain(wanted) || (now !== plain(was) && now.includes(label));
    if (isShown && !(typedAll && isConnected(option) && shownElement(option) && isOpen(target))) return true;
    const before = countOf(isOpen(target) ? open : closed, label); // an open list has its words, too
    if (countOf(textsAround(target), label) > before) return true;
    const still = find();
    return still !== undefined && isKept(target, still);
  };
  await eventually(page, lateMs, same);
  // Some show what is chosen beside their field, which is empty again.
  const held = same() && shown() === '' ? label : shown();
  return answer(
    task,
    held,
    same(),
    same() ? undefined : `the option ${JSON.stringify(label)} was clicked once`,
  );
}

// What a box opens may have a field of its own to search with, which gets the focus then.
function searchFieldIn(box: Element): HTMLInputElement | HTMLTextAreaElement | undefined {
  const at = focusedIn(documentFor(box));
  return at !== null && at !== box && isTextField(at) && !at.readOnly && isOpen(box) ? at : undefined;
}

// A box for choosing takes one of its options: what is only typed, it may drop when it is left. One to search with
// takes any words.
function notOffered(task: Task, latest: readonly string[], typedIn: boolean, free: boolean): Filled {
  const only = typedIn ? ': it is typed, not chosen' : '';
  const some = latest.map((one) => JSON.stringify(one)).join(', ');
  if (some !== '') return answer(task, shownIn(task), typedIn && free, `what is offered: ${some}${only}`);
  const takesWords = !choosesOnly(task.target) && !isOpen(task.target);
  return answer(task, shownIn(task), typedIn && takesWords, `no option was offered${only}`);
}

const choosesOnly = (box: Element): boolean =>
  fits(box, '[aria-autocomplete=list],[aria-autocomplete=both]') && !fits(box, searching);

// What a box that takes several shows as chosen stands around its field, each by itself.
function textsAround(box: Element): string[] {
  const around = Array.from(upwards(box)).slice(1, 5);
  const outermost = around.findLast((at) => isHtml(at) && at.innerText.length < mostAround);
  if (outermost === undefined) return [];
  return textsIn(outermost);
}

const listed = '[role=listbox],[role=option],option';

// The texts in an element that are shown, without those of lists.
function textsIn(outermost: Element): string[] {
  const texts = documentFor(outermost).createTreeWalker(outermost, NodeFilter.SHOW_TEXT);
  const found: string[] = [];
  while (texts.nextNode() !== null) {
    const { nodeValue, parentElement } = texts.currentNode;
    if (parentElement === null || !shownElement(parentElement)) continue;
    if (nearest(parentElement, listed) === null) found.push(plain(nodeValue ?? ''));
  }
  return found;
}

const countOf = (texts: readonly string[], label: string): number =>
  texts.filter((text) => text === label).length;

// Lists are drawn anew with every answer of the network: the option is looked for again where it went away.
async function reach(page: Page, find: () => Element | undefined): Promise<Spot | undefined> {
  const until = performance.now() + optionMs;
  do {
    const option = find();
    try {
      if (option !== undefined)
        return await ready(page, page.reference(seenFor(option)), { uncovered: true, enabled: true });
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
  // As keys they would leave the field, or choose in it.
  const typed = text.replaceAll(tagOf(field) === 'textarea' ? /\t/g : /[\t\r\n]+/g, ' ');
  for (const character of typed) stroke(owner, strokeFor(character), clipboard);
}

/** Chooses in a list that shows its options. */
export async function fillListbox(task: Task): Promise<Filled> {
  const { target, value, page } = task;
  const wanted = Array.isArray(value) ? value : [String(value)];
  const all = () =>
    displayedIn(target).filter((one) => fits(one, '[role=option],[role=radio]') && shownElement(one));
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
  for (const one of all()) {
    const want = found.includes(one);
    if (isOn(one) === want || (!want && !many)) continue;
    const spot = await ready(page, page.reference(one), { uncovered: true, enabled: true });
    await pressAndRelease(spot, { button: 'left', count: 1, modifiers: [] });
    await eventually(page, lateMs, () => isOn(one) === want);
  }
  const now = all().filter(isOn).map(optionText);
  const names = found.map((one) => (one === undefined ? '' : optionText(one)));
  const verified = now.length === names.length && names.every((name) => now.includes(name));
  return answer(task, many ? now : (now[0] ?? ''), verified);
}
