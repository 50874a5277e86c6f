// The lines of a page that were written before and say the same still, so that a look after a small change is a small
// look. Lines of an element are kept while nothing in it was changed, as a MutationObserver tells, and while what was
// displayed of it is displayed and what was not is not, as the browser tells. What can change without either (fields,
// names from elsewhere, long lists, scrollers, frames, custom elements) is written anew each time. What is not noticed:
// a shadow root that a plain element with content gets late, and a style that makes a target of it, or a dot, from
// afar. A look that asks for the whole writes everything anew.
import { attribute, content, focused, has, hasSome, holder, shadowRoot, within } from './dom.ts';
import { isCutOff, isDrawn, isSeen, isShown } from './drawn.ts';
import { labelsOf } from './labels.ts';
import type { Line } from './lines.ts';
import { rootsRead } from './moment.ts';
import { namesOf } from './roles.ts';

interface Kept {
  around: string; // the cursor over what it stands in
  depth: number;
  lines: readonly Line[];
  parts: readonly Element[]; // whose words are in a line of another one
  quiet: readonly Quiet[];
}

/** What nothing was told of, and what has to be true still for that. */
interface Quiet {
  element: Element;
  still: (element: Element) => boolean;
}

/** Reasons to tell nothing of an element. */
export const isHidden = (element: Element): boolean => !isDrawn(element);
const isBare = (element: Element): boolean => isDrawn(element) && shadowRoot(element) === undefined;
export const isHiddenThing = (element: Element): boolean =>
  shadowRoot(element) === undefined && (!isSeen(element) || isCutOff(element));
export const isHiddenText = (element: Element): boolean => !isShown(element);

const mostQuiet = 8; // to look at again for each element
const mostChanged = 1000; // to remember between looks
const restMs = 60_000; // until nobody is thought to look again
const none: readonly never[] = [];
const watched = { subtree: true, childList: true, characterData: true, attributes: true };

/** What is kept of a document. */
export class Keeper {
  #kept = new WeakMap<Element, Kept>();
  readonly #observer = new MutationObserver((records) => this.#heed(records));
  readonly #roots = new WeakSet<Node>();
  readonly #changed = new Set<Element>(); // whose whole content may look different
  #removed = new WeakSet<Node>(); // since the last look
  #rest: ReturnType<typeof setTimeout> | undefined;
  #setting = '';
  #focused: Element | null = null;
  #quiet: Quiet[] = [];
  #parts: Element[] = [];
  #varied = 0;
  #within = 0; // changed ones

  constructor() {
    this.#watch(document);
    addEventListener('load', this.#loaded, true);
  }

  /** A walk over the document begins. */
  begin(): void {
    this.#heed(this.#observer.takeRecords());
    const sheets = document.styleSheets.length + document.adoptedStyleSheets.length;
    const setting = `${innerWidth} ${innerHeight} ${devicePixelRatio} ${sheets}`;
    if (setting !== this.#setting) this.#forget();
    this.#setting = setting;
    const inFocus = focused().at(-1) ?? null;
    for (const one of [this.#focused, inFocus]) if (one !== null) this.#stale(one);
    this.#focused = inFocus;
    this.#quiet = [];
    this.#parts = [];
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.end(), restMs);
  }

  /** The walk is over. */
  done(): void {
    for (const root of rootsRead()) this.#watch(root);
    this.#changed.clear();
    this.#removed = new WeakSet();
    this.#within = 0;
  }

  /** Nobody looks any more. */
  end(): void {
    clearTimeout(this.#rest);
    this.#observer.disconnect();
    removeEventListener('load', this.#loaded, true);
    this.#forget();
    if (keeper === this) keeper = undefined;
  }

  /** The lines of an element, where they are known. */
  of(element: Element, around: string, depth: number): readonly Line[] | undefined {
    const kept = this.#kept.get(element);
    if (kept === undefined || this.#within > 0 || kept.around !== around) return undefined;
    const hidden = firstHidden(kept);
    if (hidden !== undefined) this.#stale(hidden); // so that no part of it asks again
    if (hidden !== undefined || !kept.quiet.every(isStill)) return undefined;
    for (const one of kept.quiet) this.#quiet.push(one);
    for (const one of kept.parts) this.#parts.push(one);
    if (kept.depth === depth) return kept.lines;
    return kept.lines.map((line) => ({ ...line, depth: line.depth - kept.depth + depth }));
  }

  /** What is written now can change without a sign. */
  vary(): void {
    this.#varied++;
  }

  /** Nothing is told of an element now. */
  pass(element: Element, still: (element: Element) => boolean): void {
    this.#quiet.push({ element, still });
  }

  /** Its words stand in the line of another one, or not at all because others say the same. */
  include(element: Element): void {
    this.#parts.push(element);
  }

  /** What stands in an element is written. */
  enter(element: Element): void {
    if (this.#changed.has(element)) this.#within++;
    if (shadowRoot(element) === undefined && content(element).length === 0) this.pass(element, isBare);
  }

  /** It is written. */
  leave(element: Element): void {
    if (this.#changed.has(element)) this.#within--;
  }

  /** Writes an element, and keeps what was written. */
  keep(element: Element, around: string, depth: number, lines: Line[], write: () => void): void {
    const at = lines.length;
    const quiet = this.#quiet.length;
    const parts = this.#parts.length;
    const varied = this.#varied;
    write();
    if (varied !== this.#varied || this.#quiet.length - quiet > mostQuiet || lines.length < at) return;
    this.#kept.set(element, {
      around,
      depth,
      lines: lines.slice(at),
      parts: this.#parts.length === parts ? none : this.#parts.slice(parts),
      quiet: this.#quiet.length === quiet ? none : this.#quiet.slice(quiet),
    });
  }

  #watch(root: Node): void {
    if (this.#roots.has(root)) return;
    this.#roots.add(root);
    this.#observer.observe(root, watched);
  }

  readonly #loaded = ({ target }: Event): void => {
    if (target instanceof HTMLLinkElement) this.#forget();
  };

  #heed(records: readonly MutationRecord[]): void {
    for (const record of records) {
      const { type, target } = record;
      for (const node of record.removedNodes) this.#removed.add(node);
      for (const node of record.addedNodes) if (node instanceof Element) this.#join(node);
      if (this.#changed.size > mostChanged) this.#forget();
      const at = target instanceof Element ? target : (target.parentElement ?? undefined);
      const element = target instanceof ShadowRoot ? target.host : at;
      if (element === undefined || isStyling(element)) this.#forget();
      else {
        // Of what is put into slots, only the host is told.
        if (type === 'attributes' || shadowRoot(element) !== undefined) this.#changed.add(element);
        this.#stale(element);
        const host = slotsOf(record, element);
        if (host !== undefined) this.#changed.add(host);
      }
    }
  }

  // What was moved may be something else where it is now, and a label names what it had not named.
  #join(added: Element): void {
    if (this.#removed.has(added)) {
      this.#changed.add(added);
      this.#stale(added);
    }
    const inside = added.firstElementChild === null ? [] : within(added, 'label');
    for (const label of added instanceof HTMLLabelElement ? [added, ...inside] : inside)
      if (label instanceof HTMLLabelElement && label.control !== null) this.#stale(label.control);
  }

  #forget(): void {
    this.#kept = new WeakMap();
    this.#changed.clear();
  }

  #stale(element: Element): void {
    for (let at: Element | undefined = element; at !== undefined; at = holder(at)) this.#kept.delete(at);
  }
}

const isStill = ({ element, still }: Quiet): boolean => still(element);

const asPeopleSee = { opacityProperty: true, visibilityProperty: true };

// Asked of all that was told: the browser is asked first, and a place to remember its answer is not made.
function firstHidden({ lines, parts }: Kept): Element | undefined {
  const check = Element.prototype.checkVisibility;
  let last: Element | undefined;
  for (const { element } of lines) {
    if (element !== last && !check.call(element, asPeopleSee) && !isDrawn(element)) return element;
    last = element;
  }
  for (const element of parts) if (!check.call(element, asPeopleSee) && !isDrawn(element)) return element;
  return undefined;
}

// The host whose content is put into other slots than before.
function slotsOf(
  { attributeName, addedNodes, removedNodes }: MutationRecord,
  element: Element,
): Element | undefined {
  const root = Node.prototype.getRootNode.call(element);
  const within = root instanceof ShadowRoot ? root.host : undefined;
  if (attributeName === 'slot') return element.parentElement ?? undefined;
  if (attributeName === 'name') return within;
  if (within === undefined) return undefined;
  const isSlot = (node: Node) =>
    node instanceof Element && (node instanceof HTMLSlotElement || node.querySelector('slot') !== null);
  return [...addedNodes, ...removedNodes].some(isSlot) ? within : undefined;
}

const isStyling = (element: Element): boolean =>
  element === document.head || element instanceof HTMLStyleElement || element instanceof HTMLLinkElement;

const fields = new Set('input select textarea label'.split(' '));

const labelled = new Set('button meter output progress'.split(' '));

// It may be named after the field that it stands for.
const isCombobox = (element: Element): boolean => attribute(element, 'role') === 'combobox';

/** Whether what is told of it depends on more than what stands in it. */
export const isVaried = (element: Element, tag: string): boolean =>
  fields.has(tag) ||
  tag.includes('-') ||
  (hasSome(element) && (namesOf(element) !== null || has(element, 'aria-owns') || isCombobox(element))) ||
  (labelled.has(tag) && labelsOf(element).length > 0);

let keeper: Keeper | undefined;

/** What is kept of this document. */
export function keeping(): Keeper {
  keeper ??= new Keeper();
  return keeper;
}

/** Writes everything anew next time. */
export const forget = (): void => keeper?.end();
