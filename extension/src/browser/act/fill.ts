// Fills fields of every kind, and reads back what they hold then.
import { sensitivity } from '../secrets.ts';
import { named } from '../words.ts';
import { stillAgreed } from './agreed.ts';
import { fillCombobox, fillListbox } from './choosing.ts';
import {
  attribute,
  documentFor,
  fits,
  isConnected,
  isElement,
  isHtml,
  isInput,
  isSelect,
  isTextArea,
  isTextField,
  plain,
  send,
  windowOf,
} from './dom.ts';
import { fillEditor } from './editors.ts';
import { isLeaving } from './effect.ts';
import {
  answer,
  asked,
  check,
  eventually,
  type Filled,
  fieldOf,
  type Kind,
  kindOf,
  lateMs,
  optionsFor,
  type Reading,
  type Task,
  textOf,
  untilMs,
  type Value,
  wrong,
} from './fields.ts';
import { readKeys } from './keys.ts';
import { focusOn, pressAndRelease } from './mouse.ts';
import type { Page } from './page.ts';
import { refuseUsedAgain } from './refusing.ts';
import { ready, resolved } from './target.ts';
import { Clipboard, replaceValue } from './text.ts';
import { putValue, stroke } from './typing.ts';

/** Fills one field. What it throws says that nothing was done to this field. */
export async function fill(page: Page, ref: string, value: Value): Promise<Reading> {
  const first = fieldOf(resolved(page, ref));
  // Editors that draw their text themselves take it in through a dot that nobody sees.
  const drawn = check(page, first, value) === 'editor' && fits(first, '.monaco-editor *');
  await ready(page, ref, { uncovered: false, enabled: !drawn });
  const named = resolved(page, ref);
  const target = fieldOf(named);
  refuseUsedAgain(target);
  stillAgreed(named);
  const task: Task = { page, ref, target, value };
  const reading = await ways[check(page, target, value)](task);
  if (sensitivity(target) === undefined) return reading;
  const silent = ({ verified }: Filled): Filled => ({ ref, value: undefined, verified });
  const { filled, again } = reading;
  return { filled: silent(filled), ...(again !== undefined && { again: () => silent(again()) }) };
}

const ways: Record<Kind, (task: Task) => Promise<Reading>> = {
  text: fillText,
  set: fillText,
  select: fillSelect,
  check: fillCheck,
  radio: fillCheck,
  editor: fillEditor,
  combobox: fillCombobox,
  listbox: async (task) => ({ filled: await fillListbox(task) }),
  slider: fillSlider,
};

const normalised = ['number', 'range', 'color', 'email', 'url', 'time', 'datetime-local'];

// Whether a field holds what was asked for, in the form which the browser gives it.
function isSame(field: HTMLInputElement | HTMLTextAreaElement, text: string): boolean {
  const now = field.value;
  if (now === text) return true;
  if (isInput(field) && field.type === 'email' && field.multiple)
    return now === text.replace(/\s*,\s*/g, ',').trim();
  if (isInput(field) && field.type === 'datetime-local' && now === text.trim().replace(' ', 'T')) return true;
  if (!isInput(field) || !normalised.includes(field.type) || now === '' || text === '') return false;
  const spelled = [text, plain(text)].map((one) => one.toLowerCase());
  return Number(now) === Number(text) || spelled.some((one) => isSpelledOut(field.type, now, one));
}

// Seconds that nobody asked for, and the path of an address, are what a browser adds.
function isSpelledOut(type: string, now: string, text: string): boolean {
  const more = now.toLowerCase().startsWith(text) ? now.slice(text.length) : undefined;
  const isTime = type === 'time' || type === 'datetime-local';
  return more === '' || (isTime && /^:00(?:\.0+)?$/.test(more ?? '')) || (type === 'url' && more === '/');
}

// A page that formats, refuses or restores what was given often does so after the event; one that goes elsewhere would
// be gone before it could be told.
async function hadItsTurn(page: Page): Promise<void> {
  await page.pause(0);
  if (!isLeaving()) await page.pause(untilMs);
}

async function fillText(task: Task): Promise<Reading> {
  const { target, value, page } = task;
  if (!isInput(target) && !isTextArea(target)) return { filled: answer(task, '', false) };
  const text = textOf(value).replace(/\r\n?/g, '\n');
  const before = target.value;
  focusOn(target);
  await page.pause(0); // a page may have something to do with a field that has the focus now
  const same = () => isSame(target, text);
  if (before !== text) (isTextField(target) ? putValue : replaceValue)(target, text);
  await hadItsTurn(page);
  const there = () => isConnected(target) && (same() || isSetApart(target, text));
  if (!there()) await eventually(page, lateMs / 2, () => !isConnected(target) || same());
  const again = () => {
    if (!isConnected(target)) return answer(task, '', false, 'the page replaced the field');
    if (same()) return answer(task, target.value, true, objection(target));
    if (isSetApart(target, text))
      return answer(task, target.value, true, objection(target) ?? 'the page grouped its characters');
    const note = target.value === before ? 'the page kept what was there' : 'the page changed it';
    return answer(task, target.value, false, note);
  };
  return { filled: again(), again };
}

// Languages that set no groups apart with a comma, but fractions.
const decimalComma =
  ':is(:lang(de),:lang(fr),:lang(es),:lang(it),:lang(nl),:lang(pt),:lang(pl),:lang(ru),:lang(uk),:lang(cs),' +
  ':lang(sk),:lang(hu),:lang(ro),:lang(bg),:lang(da),:lang(sv),:lang(no),:lang(nb),:lang(fi),:lang(tr),:lang(el),' +
  ':lang(hr),:lang(sr),:lang(sl),:lang(lt),:lang(lv),:lang(et),:lang(id),:lang(vi))';

const between = /[ \u00a0()/-]/;
const telephone = 8; // digits from which on one of them may stand alone

// Whether a field holds all that was asked for, in groups, as fields for cards and telephones do. A point, a comma or a
// sign in front could make another number of it, and so could brackets around it, or a dash or slash beside one digit.
function isSetApart(field: HTMLInputElement | HTMLTextAreaElement, text: string): boolean {
  const now = field.value;
  if (/^[-/]|^\(.*\)$/.test(now) || text === '') return false;
  const isGrouped = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(now) && !fits(field, decimalComma);
  if (isGrouped && now.replaceAll(',', '') === text) return true;
  let at = 0;
  let isDivided = false;
  for (const character of now) {
    if (text.startsWith(character, at)) at += character.length;
    else if (!between.test(character)) return false;
    else isDivided ||= character === '/' || character === '-';
  }
  const groups = now.split(between).filter((group) => group !== '');
  const isAnother = isDivided && text.length < telephone && groups.some(({ length }) => length < 2);
  return at === text.length && !isAnother;
}

// What Chrome would tell a person who sends the form like that.
const objection = (field: HTMLInputElement | HTMLTextAreaElement): string | undefined =>
  field.willValidate && !field.validity.valid && !field.validity.valueMissing
    ? `not valid: ${named(field.validationMessage)}`
    : undefined;

async function fillSelect(task: Task): Promise<Reading> {
  const { target, value, page } = task;
  if (!isSelect(target)) return { filled: answer(task, '', false) };
  const wanted = optionsFor(page.describe(target), target, value);
  const chosen = () => Array.from(target.selectedOptions, (one) => plain(one.label || one.text));
  const same = () =>
    target.selectedOptions.length === wanted.length &&
    wanted.every((one) => Array.from(target.selectedOptions).includes(one));
  focusOn(target);
  if (!same()) {
    for (const option of target.options) if (target.multiple) option.selected = wanted.includes(option);
    const only = wanted[0];
    if (!target.multiple && only !== undefined) only.selected = true;
    const view = windowOf(target);
    send(target, new view.Event('input', { bubbles: true, composed: true }));
    send(target, new view.Event('change', { bubbles: true }));
  }
  await hadItsTurn(page);
  const again = () =>
    answer(task, target.multiple ? chosen() : (chosen()[0] ?? ''), isConnected(target) && same());
  return { filled: again(), again };
}

/** Whether it is checked; undefined while it says nothing about that. */
function checkedState(target: Element): boolean | undefined {
  if (isInput(target)) return target.checked;
  for (const name of ['aria-checked', 'aria-pressed', 'aria-selected']) {
    const said = attribute(target, name);
    if (said !== null) return said === 'true';
  }
  return undefined;
}

async function fillCheck(task: Task): Promise<Reading> {
  const { target, value, page, ref } = task;
  const wanted = asked(page.describe(target), value);
  if (checkedState(target) === wanted) return { filled: answer(task, wanted, true, 'it was already so') };
  if (kindOf(target) === 'radio' && !wanted)
    throw wrong(`${page.describe(target)} cannot be unchecked by itself`, 'Choose another one of its group');
  const spot = await ready(page, ref, { uncovered: true, enabled: true });
  stillAgreed(spot.target);
  await pressAndRelease(spot, { button: 'left', count: 1, modifiers: [] });
  const now = () => {
    const at = page.resolve(ref);
    return isElement(at) ? checkedState(fieldOf(at)) : undefined;
  };
  await eventually(page, lateMs, () => now() === wanted);
  const again = () => {
    const state = now();
    return answer(task, state ?? '', state === wanted, state === wanted ? undefined : 'it was clicked once');
  };
  return { filled: again(), again };
}

async function fillSlider(task: Task): Promise<Reading> {
  const { target, value, page } = task;
  const wanted = Number(value);
  const now = () => Number(attribute(target, 'aria-valuenow') ?? Number.NaN);
  const limit = (name: string) => Number(attribute(target, name) ?? Number.NaN);
  const [min, max] = [limit('aria-valuemin'), limit('aria-valuemax')];
  const say = (one: number) => (Number.isNaN(one) ? '?' : one);
  if (wanted < min || wanted > max)
    throw wrong(`${page.describe(target)} takes a number from ${say(min)} to ${say(max)}`);
  if (isHtml(target) || target instanceof windowOf(target).SVGElement) focusOn(target);
  await page.pause(0);
  const clipboard = new Clipboard();
  const owner = documentFor(target);
  const press = async (key: string) => {
    const before = now();
    for (const one of readKeys(key)) stroke(owner, one, clipboard);
    await page.pause(0);
    if (now() === before) await eventually(page, 100, () => now() !== before);
    return now() - before;
  };
  // Keys whose step is not known are tried once each: some lead nowhere, or the other way where a page is read from
  // right to left. A step too far ends it.
  const across = ['ArrowRight', 'ArrowLeft'] as const;
  const ways = [across, across.toReversed(), ['ArrowUp', 'ArrowDown']];
  for (let n = 0; n < 1000 && isConnected(target) && now() !== wanted; n++) {
    const distance = wanted - now();
    const key = ways[0]?.[distance > 0 ? 0 : 1];
    if (key === undefined) break;
    const from = now();
    const step = await press(key);
    if (Number.isNaN(from) && !Number.isNaN(now())) continue; // it held nothing
    if (step === 0 || Math.sign(step) !== Math.sign(distance)) ways.shift();
    else if (Math.abs(wanted - now()) >= Math.abs(distance)) break;
  }
  const again = () => {
    const verified = isConnected(target) && now() === wanted;
    return answer(task, now(), verified, verified ? undefined : 'its keys do not lead to that number');
  };
  return { filled: again(), again };
}
