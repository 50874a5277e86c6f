// What style sheets ask of the pointer: which elements they give a cursor, and which look different under it. Computed
// styles do not say whether an element has a cursor of its own or that of what it stands in.
import { matches } from './dom.ts';

type Root = Document | ShadowRoot;

/** Selectors of the rules of a root, or of one sheet of it. */
interface Asked {
  pointed: string[]; // elements that get a cursor with which something can be done, by a rule of their own
  hovered: string[]; // elements that get such a cursor, or another look, only under the pointer
  pointedOnHover: string[]; // those of them that get the cursor
  worded: string[]; // elements that get words for where they stand among others
}

interface Read {
  length: number; // of the list of rules, by which it is seen that there are more
  asked: Asked;
}

interface OfRoot {
  parts: readonly Asked[];
  pointed: string;
  hovered: string;
  pointedOnHover: string;
  worded: string;
}

const bySheet = new WeakMap<CSSStyleSheet, Read>();
const byRoot = new WeakMap<Root, OfRoot>();
let fresh = new WeakSet<Root>(); // whose sheets were looked at in this task

/** Whether a rule of its own, and not what it stands in, gives an element a cursor that says it can be used. */
export const isPointedOut = (element: Element): boolean =>
  isPointing(ownStyle(element)?.cursor ?? '') || fits(element, 'pointed');

/** Whether it looks different, by itself, while the pointer is over it. */
export const looksHovered = (element: Element): boolean => fits(element, 'hovered');

/** Whether it gets a cursor that says it can be used, once the pointer is over it. */
export const isPointedOnHover = (element: Element): boolean => fits(element, 'pointedOnHover');

/** Whether words before or behind what stands in it depend on its place: on its siblings, or on what stands in it. */
export const isWordedByPlace = (element: Element): boolean => fits(element, 'worded');

const pointing =
  /^(?:pointer|grab|grabbing|move|cell|crosshair|copy|zoom-in|zoom-out|context-menu|.*-resize)$/;

/** Whether a cursor says that something can be done where it is shown. */
export const isPointing = (cursor: string): boolean => pointing.test(cursor);

const ownStyle = (element: Element): CSSStyleDeclaration | undefined =>
  element instanceof HTMLElement || element instanceof SVGElement ? element.style : undefined;

function fits(element: Element, which: keyof Asked): boolean {
  const root = Node.prototype.getRootNode.call(element);
  if (!(root instanceof Document || root instanceof ShadowRoot)) return false;
  const selector = ofRoot(root)[which];
  return selector !== '' && matches(element, selector);
}

function ofRoot(root: Root): OfRoot {
  const known = byRoot.get(root);
  if (known !== undefined && fresh.has(root)) return known;
  if (!fresh.has(root)) {
    fresh.add(root);
    queueMicrotask(() => {
      fresh = new WeakSet();
    });
  }
  const parts = Array.from([...root.styleSheets, ...root.adoptedStyleSheets], ofSheet);
  const isSame = known?.parts.length === parts.length && parts.every((part, i) => part === known.parts[i]);
  if (known !== undefined && isSame) return known;
  const joined = (which: keyof Asked) => Array.from(new Set(parts.flatMap((part) => part[which]))).join(', ');
  const now: OfRoot = {
    parts,
    pointed: joined('pointed'),
    hovered: joined('hovered'),
    pointedOnHover: joined('pointedOnHover'),
    worded: joined('worded'),
  };
  byRoot.set(root, now);
  return now;
}

const nothing: Asked = { pointed: [], hovered: [], pointedOnHover: [], worded: [] };

function ofSheet(sheet: CSSStyleSheet): Asked {
  const rules = sheet.disabled || !isInForce(sheet.media) ? undefined : rulesOf(sheet);
  if (rules === undefined) return nothing;
  const known = bySheet.get(sheet);
  if (known?.length === rules.length) return known.asked;
  const asked: Asked = { pointed: [], hovered: [], pointedOnHover: [], worded: [] };
  for (const rule of rules) collect(rule, '', asked);
  bySheet.set(sheet, { length: rules.length, asked });
  return asked;
}

// None of a sheet of another site, which nobody may read.
function rulesOf(sheet: CSSStyleSheet): CSSRuleList | undefined {
  try {
    return sheet.cssRules;
  } catch {
    return undefined;
  }
}

const isInForce = (media: MediaList): boolean =>
  media.mediaText === '' || matchMedia(media.mediaText).matches;

function collect(rule: CSSRule, around: string, asked: Asked): void {
  if (rule instanceof CSSStyleRule) {
    const selector = around === '' ? rule.selectorText : nested(rule.selectorText, around);
    note(selector, rule.style, asked);
    for (const inner of rule.cssRules) collect(inner, selector, asked);
  } else if (rule instanceof CSSMediaRule) {
    if (isInForce(rule.media)) for (const inner of rule.cssRules) collect(inner, around, asked);
  } else if (rule instanceof CSSImportRule) {
    const rules = rule.styleSheet === null ? undefined : rulesOf(rule.styleSheet);
    for (const inner of rules ?? []) collect(inner, around, asked);
  } else if (rule instanceof CSSGroupingRule)
    for (const inner of rule.cssRules) collect(inner, around, asked);
}

const nested = (selector: string, around: string): string =>
  selector.includes('&') ? selector.replaceAll('&', `:is(${around})`) : `:is(${around}) :is(${selector})`;

function note(list: string, style: CSSStyleDeclaration, asked: Asked): void {
  const points = isPointing(style.cursor);
  const hovers = list.includes(':hover');
  if (style.content !== '') noteWords(list, asked);
  if (!points && !hovers) return;
  for (const selector of partsOf(list)) {
    const subject = subjectOf(selector);
    if (isAny(subject)) continue;
    const bare = hovers ? selector.replaceAll(':hover', '') : selector;
    if (!CSS.supports(`selector(${bare})`)) continue;
    const itself = subject.includes(':hover');
    if (points && !hovers) asked.pointed.push(bare);
    if (points && itself) asked.pointedOnHover.push(bare);
    if (itself) asked.hovered.push(bare);
  }
}

const words = /::?(?:before|after)$/;
const places = /:(?:nth|first|last|only)-|:empty|:has\(|[+~]/;

function noteWords(list: string, asked: Asked): void {
  for (const selector of partsOf(list)) {
    if (!words.test(selector) || !places.test(selector)) continue;
    const bare = selector.trim().replace(words, '');
    const subject = /[\s>+~]$/.test(bare) ? `${bare}*` : bare;
    if (CSS.supports(`selector(${subject})`)) asked.worded.push(subject);
  }
}

// The selectors of a list, and the last compound of one: commas and blanks in brackets belong to what they stand in.
const partsOf = (list: string): string[] => split(list, /,/);
const subjectOf = (selector: string): string => split(selector.trim(), /[\s>+~]/).at(-1) ?? '';

function split(text: string, at: RegExp): string[] {
  const parts: string[] = [];
  let [from, depth] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? '';
    if (character === '(' || character === '[') depth++;
    else if (character === ')' || character === ']') depth--;
    else if (depth === 0 && at.test(character)) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return [...parts, text.slice(from)].map((part) => part.trim()).filter((part) => part !== '');
}

// Rules for everything there is say nothing of one element.
const isAny = (subject: string): boolean =>
  /^(?:\*|:[\w-]+(?:\(.*\))?)+$/.test(subject) || subject.includes('::');
