// The tools that act in a page. Each answers with what came of it.
import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { inWords, isInWords } from '../inwords.ts';
import { callBegins } from '../items.ts';
import { standing } from '../resolved.ts';
import { sensitivity } from '../secrets.ts';
import { sayTarget, targetOf } from '../targets.ts';
import { told } from '../told.ts';
import { tellTargets, viewerCalls } from '../toldtargets.ts';
import { cut, letters, quote } from '../words.ts';
import { agreedOn, mayGoOn, stillAgreed } from './agreed.ts';
import * as read from './arguments.ts';
import { caretIn, caretSince, sayCopied } from './caret.ts';
import { page, tellTo } from './document.ts';
import {
  attribute,
  documentFor,
  editableOf,
  fits,
  focusedIn,
  isElement,
  isHtml,
  isInput,
  isObject,
  within,
} from './dom.ts';
import {
  actsOn,
  type Effect,
  effectOf,
  isLeaving,
  moreCame,
  moreMayCome,
  type Said,
  seenEnough,
  settle,
  type Watched,
  whenQuiet,
} from './effect.ts';
import { NotDone } from './failure.ts';
import { check, editorOf, type Filled, fieldOf, type Reading, suggests, takesText } from './fields.ts';
import { fill } from './fill.ts';
import { readKeys, refuseBrowserKeys, strokeFor } from './keys.ts';
import { focusOn, pressAndRelease } from './mouse.ts';
import { placed, placeIn } from './places.ts';
import { drag, hover, scroll, select } from './pointer.ts';
import { type Preview, preview, type Step, targetsOf } from './preview.ts';
import { refuseParts, refusePickers, refuseUsedAgain } from './refusing.ts';
import { soon, surprise } from './steps.ts';
import { foresee, ready, resolved } from './target.ts';
import { Clipboard, caretToEnd } from './text.ts';
import { clickTrusted, type Say } from './trusted.ts';
import { sendByButton, stroke } from './typing.ts';
import { giveFiles } from './upload.ts';
import { partWith } from './words.ts';

const takenBackMs = 120;
const clipboard = new Clipboard();
let say: Say | undefined; // to a worker that has what a person's click takes

type Act = () => Promise<Said>;
type Deed = (given: read.Given) => Promise<{ note?: string; notDone?: number }>;

async function click(given: read.Given): Promise<{ note?: string }> {
  const ref = read.text(given, 'ref');
  const button = read.choice(given, 'button', read.buttons, 'left');
  const pressing = { button, count: read.count(given), modifiers: read.held(given) };
  const words = read.optionalText(given, 'at');
  refusePickers(resolved(page, ref));
  const spot = await ready(page, ref, { uncovered: true, enabled: true, words, place: placeIn(given) });
  refuseUsedAgain(spot.target); // by being scrolled to
  stillAgreed(spot.target);
  if (Reflect.get(given, 'trusted') === true) return clickTrusted(page, spot, pressing, say);
  const { replaced, sent, opened, unpressed, atOnce } = await pressAndRelease(spot, pressing);
  if (opened) return { note: 'Its menu opened under the pointer: a click would have closed that again' };
  if (!replaced) return {};
  // It may have done all there is to do, as a menu does that answers a press; then another one would do it twice.
  if (sent === 0 && atOnce === true)
    return {
      note: 'The page answered the press by taking the element away, before a click: see what came of it',
    };
  const note = `The page took the element away ${unpressed ? 'as the pointer came over it' : 'while it was pressed'}`;
  return { note: sent === 0 ? `${note}: it got no click` : note };
}

async function fillIn(given: read.Given): Promise<{ filled: Filled[]; note?: string; notDone?: number }> {
  const fields = read.fields(given);
  // Nothing is filled where something cannot be.
  for (const { ref, value } of fields) check(page, fieldOf(resolved(page, ref)), value);
  const on = fields.map(({ ref }) => page.describe(resolved(page, ref)));
  const readings: Reading[] = [];
  const filled = (): Filled[] => readings.map((one, i) => ({ on: on[i], ...one.filled }));
  for (const { ref, value } of fields) {
    try {
      readings.push(await fill(page, ref, value));
      if (isLeaving()) return { filled: filled(), ...rest(fields.length - readings.length) };
    } catch (why) {
      if (why instanceof NotDone && readings.length > 0)
        why.data = { ...why.data, filled: filled(), failed: ref };
      throw why;
    }
  }
  // A page may have put other fields in their place.
  const there = fields.map(({ ref }) => page.resolve(ref)).filter(isElement);
  if (there.some(suggests)) moreMayCome();
  // What a field holds is read again when the page had time to take it back.
  await page.pause(takenBackMs);
  for (const one of readings) one.filled = one.again?.() ?? one.filled;
  const said = filled();
  const last = fields.at(-1)?.ref;
  if (Reflect.get(given, 'submit') !== true || last === undefined) {
    whenQuiet(() => {
      for (const [i, { filled: before, again }] of readings.entries())
        if (isElement(page.resolve(before.ref))) said[i] = { on: on[i], ...(again?.() ?? before) };
      return undefined;
    });
    return { filled: said };
  }
  // The words in a box of its own are sent as they are, whatever it offered for them.
  const isHeld = ({ verified, value, asked }: Filled) => verified || (said.length === 1 && value === asked);
  if (!said.every(isHeld))
    return { filled: said, note: 'Not submitted: a field does not hold what was asked for' };
  const target = resolved(page, last);
  if (!holdsFocus(target)) return { filled: said, note: 'Not submitted: the page has the focus elsewhere' };
  const isSubmitted = submit(target);
  moreMayCome();
  whenQuiet((effect) => {
    const came = isSubmitted() || moreCame() || elsewhere.some((key) => key in effect);
    return came ? undefined : 'Enter changed nothing in the page: no form was submitted';
  });
  return { filled: said };
}

const elsewhere = ['url', 'opened', 'blockedWindows', 'downloads', 'dialogs'];

// Enter goes where the focus is: a page can have moved it since.
function holdsFocus(target: Element): boolean {
  const has = () => {
    const focused = focusedIn(documentFor(target));
    return focused !== null && (within(focused, target) || focused === editableOf(target));
  };
  if (!isInput(target) && editableOf(target) === undefined) return true;
  if (!has() && isHtml(target)) focusOn(target);
  return has();
}

// What is left where the page goes elsewhere is not for the next one.
const rest = (count: number): { notDone?: number } => (count > 0 ? { notDone: count } : {});

// Returns a function that says whether the form was told that it is submitted.
function submit(target: Element): () => boolean {
  const form: unknown = Reflect.get(target, 'form');
  let submitted = false;
  const hear = () => {
    submitted = true;
  };
  if (form instanceof HTMLFormElement)
    EventTarget.prototype.addEventListener.call(form, 'submit', hear, { capture: true, once: true });
  if (isInput(target) || editableOf(target) !== undefined)
    stroke(documentFor(target), strokeFor('\n'), clipboard);
  else if (form instanceof HTMLFormElement) {
    if (!sendByButton(form)) HTMLFormElement.prototype.requestSubmit.call(form);
  } else
    throw new NotDone(
      'VALIDATION_ERROR',
      `${page.describe(target)} belongs to no form that can be submitted`,
    );
  return () => submitted;
}

async function press(given: read.Given): Promise<{ note?: string; notDone?: number }> {
  const keys = read.optionalText(given, 'keys');
  const words = read.optionalText(given, 'text');
  const ref = read.optionalText(given, 'ref');
  if ((keys === undefined) === (words === undefined))
    throw new NotDone('VALIDATION_ERROR', 'press takes either keys or text');
  const typed = Array.from((words ?? '').replace(/\r\n?/g, '\n'), strokeFor);
  const strokes = keys === undefined ? typed : readKeys(keys);
  refuseBrowserKeys(strokes);
  if (ref !== undefined) await focusFor(ref, words !== undefined);
  const field = focusOf();
  const before = { caret: caretIn(document), copied: clipboard.taken };
  if (words !== undefined && field !== null) refuseParts(field);
  if (field !== null) stillAgreed(field);
  for (const [i, one] of strokes.entries()) {
    const focus = focusOf();
    if (one.key !== 'Tab' && !takesKeysOf(field, focus)) return elsewhereWith(strokes.length - i, focus);
    stroke(document, one, clipboard);
    await page.pause(0); // editors take in one key after the other
    if (isLeaving()) return rest(strokes.length - i - 1);
  }
  const focused = focusedIn(document);
  if (words !== undefined && focused !== null && takesText(focused)) moreMayCome();
  return words === undefined ? ofKeys(before) : {};
}

// What keys do that no line tells: they move the caret, select, or copy.
function ofKeys(before: { caret: ReturnType<typeof caretIn>; copied: number }): { note?: string } {
  const copied = clipboard.taken === before.copied ? undefined : sayCopied(clipboard.text);
  const note = copied ?? caretSince(before.caret, document);
  if (note === undefined) return {};
  seenEnough();
  return { note };
}

// What is typed into a row of fields, of which each passes the focus on when it is full.
const inParts: readonly (string | undefined)[] = ['code', 'payment'];

const focusOf = (): Element | null => {
  const focused = focusedIn(document);
  return focused === document.body ? null : focused;
};

// Keys can take the focus elsewhere, and the others would go there: to a field about which the person is asked each
// time, or to what they were not shown when they were asked about these keys.
function takesKeysOf(field: Element | null, focus: Element | null): boolean {
  if (focus === field) return true;
  const kind = focus === null ? undefined : sensitivity(fieldOf(focus));
  if (always.includes(kind))
    return inParts.includes(kind) && field !== null && sensitivity(fieldOf(field)) === kind;
  return (field !== null && focus !== null && within(focus, field)) || mayGoOn(field, focus);
}

const elsewhereWith = (notDone: number, focus: Element | null) => ({
  notDone,
  note:
    `The focus moved to ${focus === null ? 'the page' : page.describe(focus)}: ` +
    'keys for that take a call of their own',
});

async function focusFor(ref: string, isText: boolean): Promise<void> {
  await ready(page, ref, { uncovered: false, enabled: true });
  const target = fieldOf(resolved(page, ref));
  if (!isHtml(target) && !(target instanceof SVGElement))
    throw new NotDone('VALIDATION_ERROR', `${page.describe(target)} takes no keys`);
  if (focusedIn(document) === target) return;
  focusOn(target);
  caretToEnd(target);
  const editor = isFocusIn(target) ? undefined : editorOf(target);
  if (editor !== undefined) {
    focusOn(editor);
    caretToEnd(editor);
  }
  refuseOtherFocus(editor ?? target, target, isText);
}

const isFocusIn = (target: Element): boolean => {
  const focus = focusOf();
  return focus !== null && within(focus, target);
};

// Keys go to what has the focus. What cannot have it is not what they would go to; and a field about which the person
// is asked each time is named by its own reference.
function refuseOtherFocus(target: Element, named: Element, isText: boolean): void {
  const focus = focusOf();
  if (focus === null) {
    if (!isText && fits(named, 'canvas, svg, [role=application]')) return; // a page draws there what its keys are for
    throw new NotDone(
      'VALIDATION_ERROR',
      `${page.describe(named)} cannot have the focus: ${isText ? 'nothing would be typed' : 'no key would go to it'}`,
      isText ? {} : { hint: 'Without `ref`, keys go to the page, for its shortcuts.' },
    );
  }
  const isEditing = isHtml(focus) && focus.isContentEditable && within(target, focus);
  if (!isEditing && !within(focus, target) && !actsFor(focus, target))
    throw new NotDone(
      'VALIDATION_ERROR',
      `${page.describe(named)} cannot have the focus, which ${page.describe(focus)} has: keys would go there`,
      { hint: 'Name the field that is to get the keys, or click the thing.' },
    );
  const field = fieldOf(focus);
  if (field !== fieldOf(named) && always.includes(sensitivity(field)))
    throw new NotDone('VALIDATION_ERROR', `The focus went to ${page.describe(field)}: keys for it name it`);
}

// A widget takes the keys for its parts: the cell of a grid, the option of a list that stands elsewhere in the page.
function actsFor(focus: Element, target: Element): boolean {
  if (within(target, focus)) return !takesText(focus);
  const parts = ['aria-activedescendant', 'aria-controls', 'aria-owns'].flatMap((name) =>
    namedBy(focus, name),
  );
  return (
    parts.some((part) => within(target, part)) ||
    namedBy(target, 'aria-controls').some((one) => within(focus, one))
  );
}

function namedBy(element: Element, name: string): Element[] {
  const root = element.getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return [];
  return (attribute(element, name) ?? '').split(/\s+/).flatMap((id) => (id && root.getElementById(id)) || []);
}

const pointerActions = ['hover', 'drag', 'scroll', 'select'] as const;

async function point(given: read.Given): Promise<{ note?: string }> {
  const action = read.choice(given, 'action', pointerActions);
  const to = read.optionalText(given, 'to');
  const at = read.place(given);
  const place = placeIn(given);
  if (action === 'scroll') return scroll(page, read.optionalText(given, 'ref'), { to, at, place });
  const ref = read.text(given, 'ref');
  if (action === 'hover') return hover(page, ref, place);
  if (action === 'select') return select(page, ref, to, at);
  if (typeof at === 'string' && at !== 'before' && at !== 'after')
    throw new NotDone('VALIDATION_ERROR', 'at must be "before", "after" or {x, y}');
  return drag(page, ref, { to, at, place });
}

const upload: Deed = (given) => giveFiles(page, read.text(given, 'ref'), read.files(given));

const deeds: Record<string, Deed> = { click, fill: fillIn, press, pointer: point, upload };

/** Runs an act; what it throws on purpose becomes a failure that says whether anything was done. */
async function acting(watched: Watched, deed: Act, { ref }: { ref?: unknown }): Promise<Effect> {
  try {
    foresee(page, typeof ref === 'string' ? ref : '');
    return saidOnce(await effectOf(page, watched, deed));
  } catch (why) {
    throw failed(why);
  }
}

const categoryOf = (code: string) => (/GONE|CHANGED/.test(code) ? 'not_found' : 'validation');

function failed(why: unknown): unknown {
  if (!(why instanceof NotDone)) return why;
  return new ToolError(why.message, why.code, {
    category: categoryOf(why.code),
    outcome: why.outcome,
    ...(why.hint !== undefined && { hint: why.hint }),
    ...(why.data !== undefined && { data: why.data }),
  });
}

// What a call would do, for the person who is asked.
async function foretold(viewer: string, steps: readonly Step[], now = false): Promise<Preview> {
  const look = () =>
    preview(
      viewer,
      steps.map(({ tool, args }) => ({ tool, args: placed(viewer, tool, args) })),
    );
  try {
    return await (now ? look() : come(steps[0]?.args ?? {}, look));
  } catch (why) {
    throw failed(why);
  }
}

// What is named in words may still be on its way, or be drawn anew meanwhile; a reference has been there.
async function come<T>(given: object, act: () => T | Promise<T>): Promise<T> {
  return isAnyInWords(given) ? soon(page, act) : act();
}

function isAnyInWords(given: object): boolean {
  const fields: unknown = Reflect.get(given, 'fields');
  const all = [given, ...(Array.isArray(fields) ? fields : [])];
  return all.some((one) => isObject(one) && targetsOf(one).some(isInWords));
}

// A call begins: what it names was chosen by what was answered before.
function begin(viewer: string): void {
  callBegins();
  viewerCalls(viewer);
}

// What an act answers with is what its caller knows then.
function answered(viewer: string, effect: Effect): Effect {
  tellTargets(
    viewer,
    [effect.changes, effect.focused].filter((one) => one !== undefined),
  );
  return effect;
}

// What has the focus now is mostly what was acted on: its reference says that.
function saidOnce(effect: Effect & { on?: string }): Effect {
  const ref = /\[((?:f\d+)?e\d+)\]/.exec(effect.focused ?? '')?.[1];
  if (ref !== undefined && effect.on?.includes(`[${ref}]`) === true) effect.focused = ref;
  return effect;
}

// The worker asks once more where the page was to leave and did not.
function isSettling(args: object): boolean {
  const { settle = false, viewer } = told(args);
  tellTo(viewer);
  return settle;
}

const carryOut =
  (tool: string, deed: Deed) =>
  (args: object, { log }: { log: { debug: Say } }) => {
    if (isSettling(args)) return settle();
    const { viewer, trusted, preview: asked, now, agreed } = told(args);
    begin(viewer);
    if (asked === true) return foretold(viewer, [{ tool, args }], now);
    say = trusted === true ? log.debug : undefined;
    const act = () =>
      come(args, () => {
        const given = inReferences(placed(viewer, tool, args), tool);
        guard(args, [given]);
        agreedOn(viewer, agreed, 0, targetsNow(given));
        return named(given, deed);
      });
    const watched = { dialogs: read.dialogAnswer(args) ?? 'dismiss', forFocus: deed === click } as const;
    return acting(watched, act, args).then((effect) => answered(viewer, effect));
  };

const always: readonly (string | undefined)[] = ['password', 'payment', 'code'];

// To act on a password, payment or one-time code takes the person's consent each time. The relay asks them when it is
// told which field it is, and calls again.
function guard(args: object, deeds: readonly object[]): void {
  if (told(args).sensitive === true) return;
  for (const element of deeds.flatMap(fieldsOf)) {
    const field = fieldOf(element);
    if (!always.includes(sensitivity(field))) continue;
    throw new NotDone('SENSITIVE_FIELD', page.describe(field));
  }
}

// Does something, and says to what: for the caller, and for who reads later what was done.
async function named(given: read.Given, deed: Deed): Promise<Said> {
  // What is scrolled is not pressed: what stands in it would only be repeated.
  const say = Reflect.get(given, 'action') === 'scroll' ? page.describe : asSeen;
  const on = few(fieldsOf(given).map(say));
  actsOn(on);
  for (const one of [given, { ref: Reflect.get(given, 'to') }])
    for (const element of elementsOf(one)) {
      refuseUsedAgain(element);
      stillAgreed(element);
    }
  return { ...(on !== '' && { on }), ...(await deed(given)) };
}

const mostNamed = 300; // characters
const mostOfRow = 60;

// As many as there is room for, each whole: what stands in quotes has an end.
function few(names: readonly string[]): string {
  const told: string[] = [];
  let left = mostNamed;
  for (const name of names) {
    left -= name.length + 2;
    if (left < 0 && told.length > 0) break;
    told.push(name);
  }
  const more = names.length - told.length;
  return told.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

// Also what is seen of it, where its name says something else.
function asSeen(element: Element): string {
  const target = targetOf(element);
  const { name, shows } = target;
  if (shows === undefined) return page.describe(element);
  // Of a row what is seen is enough: its name is that and what its pictures are called.
  const isSaid = target.role === 'row' && letters(name).includes(letters(shows.replace(/…$/, '')));
  return isSaid
    ? `row [${page.reference(element)}] that shows ${quote(cut(shows, mostOfRow))}`
    : sayTarget(target, page.reference(element));
}

// References in words are looked up once, when the deed begins; so is the part of an element that words of it name.
const inReferences = (given: read.Given, tool = ''): read.Given => {
  const words = tool === 'click' ? read.optionalText(given, 'at') : undefined;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]: [string, unknown]) => {
      if (key === 'ref' && typeof value === 'string' && words !== undefined)
        return [key, page.reference(partWith(page, resolved(page, standing(value)), words))];
      if ((key === 'ref' || key === 'to') && typeof value === 'string') return [key, standing(value)];
      const isFields = key === 'fields' && Array.isArray(value);
      return [key, isFields ? value.map((one) => (isObject(one) ? inReferences(one) : one)) : value];
    }),
  );
};

// The elements that a deed acts on, as far as they are there.
function fieldsOf(given: read.Given): Element[] {
  const elements = elementsOf(given);
  const focused = focusedIn(document);
  const typed = Reflect.get(given, 'keys') ?? Reflect.get(given, 'text');
  return typeof typed === 'string' && elements.length === 0 && focused !== null ? [focused] : elements;
}

// The targets of a deed, in the order in which a preview tells them.
function targetsNow(given: read.Given): (Element | null | undefined)[] {
  const fields: unknown = Reflect.get(given, 'fields');
  const refs = Array.isArray(fields) ? fields.flatMap(targetsOf) : targetsOf(given);
  if (refs.length === 0) return [focusedIn(document)].map((one) => (one === document.body ? null : one));
  return refs.map((ref) => {
    const found = page.resolve(ref);
    return isElement(found) ? found : undefined;
  });
}

// Those that references name.
function elementsOf(given: read.Given): Element[] {
  const own: unknown[] = [given, Reflect.get(given, 'fields') ?? []].flat();
  const refs = own.map((one) =>
    typeof one === 'object' && one !== null ? Reflect.get(one, 'ref') : undefined,
  );
  const found = refs.flatMap((ref) => (typeof ref === 'string' ? [inWords(ref) ?? page.resolve(ref)] : []));
  return found.filter((one): one is Element => one instanceof Element);
}

async function several(args: object): Promise<object> {
  if (isSettling(args)) return settle();
  const { viewer, preview: asked, now, agreed } = told(args);
  begin(viewer);
  say = undefined;
  const steps = read.steps(args);
  if (asked === true) return foretold(viewer, steps, now);
  const done: Effect[] = [];
  let why: string | undefined;
  for (const [i, { tool, args: own }] of steps.entries()) {
    const deed = deeds[tool];
    try {
      if (deed === undefined)
        throw new NotDone('VALIDATION_ERROR', `There is no step ${JSON.stringify(tool)}`);
      const dialogs = read.dialogAnswer(own) ?? read.dialogAnswer(args);
      const once = () => {
        const given = inReferences(placed(viewer, tool, own), tool);
        guard(args, i === 0 ? [given, ...steps.slice(1).map((one) => one.args)] : [given]);
        agreedOn(viewer, agreed, i, targetsNow(given));
        return named(given, deed);
      };
      const act = () => (i === 0 ? come(own, once) : soon(page, once));
      const until = read.optionalText(own, 'until');
      const watched = { dialogs: dialogs ?? 'dismiss', forFocus: deed === click, until };
      const effect = await acting(watched, act, own);
      done.push(answered(viewer, effect));
      if (effect.leaving !== undefined) break;
      why = i + 1 < steps.length ? surprise(effect, dialogs) : undefined;
      if (why !== undefined) break;
    } catch (failure) {
      throw failedStep(failure, done, `Step ${i + 1} of ${steps.length} (${tool})`);
    }
  }
  const left = steps.length - done.length;
  const note = why === undefined ? {} : { note: `Ended after step ${done.length}: ${why}` };
  return { ...(left > 0 && { notDone: left, ...note }), steps: done };
}

function failedStep(why: unknown, done: readonly Effect[], step: string): unknown {
  if (!(why instanceof ToolError || why instanceof NotDone)) return why;
  const before = done.length > 0;
  const what = before ? why.message.replace('; nothing was done', '; this step did nothing') : why.message;
  const message = `${step} failed${before ? ', after the steps before it were done' : ''}: ${what}`;
  return new ToolError(message, why.code, {
    category: categoryOf(why.code),
    ...(why.outcome !== undefined && { outcome: before ? 'executed' : why.outcome }),
    ...(why.hint !== undefined && { hint: why.hint }),
    data: { ...(typeof why.data === 'object' ? why.data : {}), ...(before && { done }) },
  });
}

// What click says of an argument, the tools that are listed behind it need not say again.
const ref = s.string();
const answers = { anyOf: [s.choice(['accept', 'dismiss']), s.object({ text: s.string() })] };
const dialogs = s.optional({ description: 'accept, dismiss or {text}.', ...answers });
const value = {
  description: 'Text, number, true or false, an option or list of options.',
  anyOf: [s.string(), s.number(), s.boolean(), s.array(s.string())],
};
const file = s.object({
  name: s.string(),
  type: s.optional(s.string()),
  base64: s.optional(s.string()),
  text: s.optional(s.string()),
});
const step = {
  type: 'object',
  properties: { tool: s.choice(['click', 'fill', 'press', 'pointer', 'upload']) },
  required: ['tool'],
} as const;

export const actTools = [
  defineTool({
    name: 'click',
    displayName: 'Click',
    description: 'Click an element. Returns what changed in the page.',
    input: s.parameters({
      ref: s.optional(s.string('Reference, such as e12.')),
      x: s.optional(s.number('In the last picture, without ref.')),
      y: s.optional(s.number()),
      at: s.optional(s.string('Words in it to press.')),
      button: s.optional(s.choice(['left', 'right', 'middle'])),
      count: s.optional(s.integer('2: double click.', { minimum: 1, maximum: 3 })),
      modifiers: s.optional(s.array(s.choice(['Alt', 'Control', 'Meta', 'Shift']))),
      trusted: s.optional(s.boolean('As a person, where the page ignores others.')),
      dialogs: s.optional({ description: 'accept, dismiss (default) or {text}.', ...answers }),
    }),
    handle: carryOut('click', click),
  }),
  defineTool({
    name: 'fill',
    displayName: 'Fill in fields',
    description: 'Fill fields of any kind, also editors. Returns what each holds then.',
    input: s.parameters({
      fields: s.array(s.object({ ref, value }), { minItems: 1, maxItems: 100 }),
      submit: s.optional(s.boolean('Then Enter.')),
      dialogs,
    }),
    handle: carryOut('fill', fillIn),
  }),
  defineTool({
    name: 'press',
    displayName: 'Press keys',
    description: 'Press keys ("Enter", "Control+A", "g i") or type text, in ref or where the focus is.',
    input: s.parameters({
      keys: s.optional(s.string()),
      text: s.optional(s.string()),
      ref: s.optional(ref),
      dialogs,
    }),
    handle: carryOut('press', press),
  }),
  defineTool({
    name: 'pointer',
    displayName: 'Use the pointer',
    description:
      'Hover over ref; drag ref to another (at: before, after) or by {x, y}; scroll ref or the page by {x, y}, or to ' +
      'start, end or a reference; select the text of ref, up to another, or the words in at.',
    input: s.parameters({
      action: s.choice(pointerActions),
      ref: s.optional(ref),
      x: s.optional(s.number()),
      y: s.optional(s.number()),
      to: s.optional(s.string()),
      at: s.optional({
        description: 'Words, or {x, y}.',
        anyOf: [s.string(), s.object({ x: s.optional(s.number()), y: s.optional(s.number()) })],
      }),
      dialogs,
    }),
    handle: carryOut('pointer', point),
  }),
  defineTool({
    name: 'upload',
    displayName: 'Upload files',
    description: 'Give files to an input, or drop them on an element.',
    input: s.parameters({ ref, files: s.array(file, { minItems: 1, maxItems: 20 }), dialogs }),
    handle: carryOut('upload', upload),
  }),
  defineTool({
    name: 'act',
    displayName: 'Do several things',
    description:
      'Steps {tool, …its arguments, until: words to wait for}, also on what ' +
      'earlier ones bring (ref: button "Pay" in "Ada"). Ends at the first that fails or surprises.',
    input: s.parameters({ steps: s.array(step, { minItems: 1, maxItems: 30 }), dialogs }),
    handle: several,
  }),
];
