// What a page shows by its styles alone while the pointer is over something. Events do not bring that about: the rules
// that ask for it are given once more, for elements that carry a mark.
import { documentFor, fits, upwards, windowOf } from './dom.ts';

/** On what our pointer is over. */
export const hoverMark = 'data-tabrelay-hover';
const longestMs = 60_000; // then nobody is thought to go on

type Root = Document | ShadowRoot;

interface Styled {
  root: Root;
  sheet: CSSStyleSheet;
}

let marked: readonly Element[] = [];
let styled: readonly Styled[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

/** The pointer is over an element: the page looks like that until it goes elsewhere. Whether all styles were read. */
export function showHovered(element: Element): boolean {
  endHovered();
  const roots = new Set(Array.from(upwards(element), (at) => at.getRootNode()));
  let whole = true;
  const made: Styled[] = [];
  for (const root of roots) {
    if (!isRoot(root)) continue;
    const rules = Array.from([...root.styleSheets, ...root.adoptedStyleSheets], (sheet) => {
      const read = ofSheet(sheet);
      whole &&= read !== undefined;
      return read ?? '';
    }).join('\n');
    if (rules.trim() === '') continue;
    const sheet = new (windowOf(element).CSSStyleSheet)();
    sheet.replaceSync(rules);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    made.push({ root, sheet });
  }
  styled = made;
  if (styled.length > 0) moveHovered(element);
  const view = windowOf(element);
  view.addEventListener('mousedown', personPressed, true);
  timer = setTimeout(endHovered, longestMs);
  return whole;
}

/** Our pointer goes elsewhere: what is shown goes with it. */
export function moveHovered(to: Element): void {
  if (styled.length === 0) return;
  const now = Array.from(upwards(to));
  for (const one of marked) if (!now.includes(one)) one.removeAttribute(hoverMark);
  for (const one of now) one.setAttribute(hoverMark, '');
  marked = now;
}

function endHovered(): void {
  clearTimeout(timer);
  for (const one of marked) {
    one.removeAttribute(hoverMark);
    windowOf(one).removeEventListener('mousedown', personPressed, true);
  }
  for (const { root, sheet } of styled)
    root.adoptedStyleSheets = root.adoptedStyleSheets.filter((one) => one !== sheet);
  marked = [];
  styled = [];
}

// Where the person uses the page, their pointer counts.
function personPressed(event: Event): void {
  if (event.isTrusted) endHovered();
}

const isRoot = (node: Node): node is Root =>
  node === documentFor(node) || node instanceof windowOf(node).ShadowRoot;

// The rules of a sheet that ask for a pointer; undefined for one of another site, which nobody may read.
function ofSheet(sheet: CSSStyleSheet): string | undefined {
  if (sheet.disabled) return '';
  let rules: CSSRuleList;
  try {
    rules = sheet.cssRules;
  } catch {
    return undefined;
  }
  const found = Array.from(rules, ofRule).join('\n');
  const { mediaText } = sheet.media;
  return found.trim() === '' || mediaText === '' ? found : `@media ${mediaText} {${found}}`;
}

// The selectors by which a root's styles ask for a pointer, without asking; known while one look goes over the page.
let asking: Map<Root, string[]> | undefined;

/** Whether styles of the page show an element only while the pointer is over something. */
export function shownOnHover(element: Element): boolean {
  if (asking === undefined) {
    asking = new Map();
    queueMicrotask(() => {
      asking = undefined;
    });
  }
  const root = element.getRootNode();
  if (!isRoot(root)) return false;
  const known = asking.get(root) ?? selectorsOf(root);
  asking.set(root, known);
  return known.some((selector) => fits(element, selector));
}

function selectorsOf(root: Root): string[] {
  const sheet = new CSSStyleSheet();
  const rules = Array.from([...root.styleSheets, ...root.adoptedStyleSheets], (one) => ofSheet(one) ?? '');
  sheet.replaceSync(rules.join('\n'));
  const mark = `[${hoverMark}]`;
  const alone = new RegExp(String.raw`(?<=^|[\s>+~,(])\[${hoverMark}\]`, 'g');
  const found: string[] = [];
  const collect = (rule: CSSRule) => {
    if (rule instanceof CSSStyleRule && rule.selectorText.includes(mark) && shows(rule.style))
      found.push(rule.selectorText.replaceAll(alone, '*').replaceAll(mark, ''));
    else if (rule instanceof CSSGroupingRule) for (const one of rule.cssRules) collect(one);
  };
  for (const rule of sheet.cssRules) collect(rule);
  return found.flatMap((selector) => [`:is(${selector})`, `:is(${selector}) *`]); // a wrong one fits nothing
}

const shows = (style: CSSStyleDeclaration): boolean =>
  style.visibility === 'visible' || (style.display !== '' && style.display !== 'none');

const asks = (text: string): boolean => text.includes(':hover');
const marking = (text: string): string => text.replaceAll(':hover', `[${hoverMark}]`);

// Of a rule that only holds some that ask for a pointer, those alone: the others are in force already.
function ofRule(rule: CSSRule): string {
  if (!asks(rule.cssText) && !(rule instanceof CSSImportRule)) return '';
  if (rule instanceof CSSImportRule) return rule.styleSheet === null ? '' : (ofSheet(rule.styleSheet) ?? '');
  if (rule instanceof CSSStyleRule) {
    if (asks(rule.selectorText)) return marking(rule.cssText);
    return `${rule.selectorText} {${Array.from(rule.cssRules, ofRule).join('\n')}}`;
  }
  if (!(rule instanceof CSSGroupingRule)) return '';
  const inner = Array.from(rule.cssRules, ofRule).join('\n');
  return `${rule.cssText.slice(0, rule.cssText.indexOf('{'))} {${inner}}`;
}
