// What can be seen in a document while an act goes on: what changes, scrolls, asks for files, or is refused as invalid.
import { sensitivity } from '../secrets.ts';
import { cut, named } from '../words.ts';
import { attribute, boxOf, focusedIn, isConnected, isElement, isInput, shadowOf, upwards } from './dom.ts';
import { hoverMark } from './hovering.ts';

export interface Signs {
  lastAt(): number; // when something was seen last; 0: nothing yet
  answeredAt(): number; // the same, without scrolling
  fetchedAt(): number; // when a request of a script was answered last; 0: none was
  focus(): Element | null; // where the focus has gone, if it moved
  scrolled(): boolean;
  wantsFiles(): Element | undefined; // a field whose list of files the page tried to open
  refused(): Refused[]; // fields of which Chrome tells a person that they are not valid
  restyled(): Restyled[]; // what looks different now, though no line says so
  drewAnew(): boolean; // something stands there now that is made in another way than what was there
  restless(pause: (ms: number) => Promise<void>): Promise<void>; // finds what never rests, which is not restyled
  drawsItself(): boolean; // a canvas is displayed
  near(target: EventTarget): void; // this is acted on: what changes in the shadow roots around it is seen, too
  url: string;
  title: string;
  end(): void;
}

interface Refused {
  field: Element;
  says: string;
}

interface Restyled {
  element: Element;
  what: string;
}

/** Starts to watch. */
export function watchSigns(): Signs {
  let lastAt = 0;
  let answeredAt = 0;
  let scrolled = false;
  let wantsFiles: Element | undefined;
  const refused = new Map<Element, Event>();
  const looks = new Looks();
  const { href: url } = location;
  const { title } = document;
  const focus = focusedIn(document);
  const seen = () => {
    lastAt = performance.now();
    answeredAt = lastAt;
  };
  const onClick = ({ target }: Event) => {
    if (isElement(target) && isInput(target) && target.type === 'file') wantsFiles = target;
  };
  const onInvalid = (event: Event) => {
    const [target] = event.composedPath();
    if (isElement(target)) refused.set(target, event);
  };
  const onScroll = () => {
    scrolled = true;
    lastAt = performance.now();
  };
  const observer = new MutationObserver((records) => {
    const theirs = records.filter((record) => !ours(record));
    if (theirs.length === 0) return;
    seen();
    looks.see(theirs);
  });
  const all = {
    subtree: true,
    childList: true,
    attributes: true,
    attributeOldValue: true,
    characterData: true,
  };
  observer.observe(document, all);
  let last: EventTarget | null = null;
  const near = (target: EventTarget) => {
    if (target === last || !isElement(target)) return;
    last = target;
    for (const root of rootsAround(target)) observer.observe(root, all);
  };
  if (focus !== null) near(focus);
  const heard: [string, (event: Event) => void][] = [
    ...['input', 'change', 'toggle', 'close'].map((type): [string, () => void] => [type, seen]),
    ['scroll', onScroll],
    ['click', onClick],
    ['invalid', onInvalid],
  ];
  for (const [type, hear] of heard) addEventListener(type, hear, true);
  // Quick requests are over before the worker can tell of them.
  let fetchedAt = 0;
  const requests = new PerformanceObserver((list) => {
    if (list.getEntriesByType('resource').some(isOfScript)) fetchedAt = performance.now();
  });
  requests.observe({ type: 'resource' });
  return {
    lastAt: () => lastAt,
    answeredAt: () => answeredAt,
    fetchedAt: () => fetchedAt,
    wantsFiles: () => wantsFiles,
    refused: () =>
      Array.from(refused, ([field, event]) => ({
        field,
        says: event.defaultPrevented ? '' : messageOf(field),
      })).filter(({ says }) => says !== ''),
    restyled: () => looks.changed(),
    drewAnew: () => looks.drewAnew(),
    restless: (pause) => looks.watchOn(pause),
    near,
    drawsItself: () => Array.from(document.getElementsByTagName('canvas')).some(isOnScreen),
    focus: () => {
      const now = focusedIn(document);
      return now === focus ? null : now;
    },
    scrolled: () => scrolled,
    url,
    title,
    end() {
      observer.disconnect();
      requests.disconnect();
      for (const [type, hear] of heard) removeEventListener(type, hear, true);
    },
  };
}

const isOfScript = (entry: PerformanceEntry): boolean =>
  entry instanceof PerformanceResourceTiming && /^(?:fetch|xmlhttprequest)$/.test(entry.initiatorType);

// What shows the person who acts, and what the pointer is over, is not the page's.
function ours({ type, addedNodes, removedNodes, attributeName }: MutationRecord): boolean {
  if (attributeName === hoverMark) return true;
  const mark = globalThis.tabrelayMark;
  if (type !== 'childList' || mark === undefined) return false;
  return [...addedNodes, ...removedNodes].every((node) => node === mark);
}

function* rootsAround(target: Element): Generator<ShadowRoot> {
  for (const at of upwards(target)) {
    const root = shadowOf(at);
    if (root !== null) yield root;
  }
}

function isOnScreen(element: Element): boolean {
  const { top, left, bottom, right, width, height } = boxOf(element);
  const inside = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  return inside && width > 1 && height > 1;
}

// What a custom element has its internals say is told to its page alone.
function messageOf(field: Element): string {
  const says: unknown = Reflect.get(field, 'validationMessage');
  return typeof says === 'string' ? says : 'not valid';
}

const restlessTimes = 3; // what changes as often during one act, and goes on to, changes by itself
const longestIntervalMs = 100;
const mostKept = 200;
const mostTold = 3;

const isDisplayed = (element: Element): boolean =>
  Element.prototype.checkVisibility.call(element, { visibilityProperty: true });

interface Look {
  times: number;
  from: number; // when it changed first, and last
  until: number;
  before: Map<string, string | null>; // attributes as they were
}

const intervalOf = ({ times, from, until }: Look): number => (until - from) / (times - 1);

// What a script keeps for itself, or leaves of a style that is over, shows nothing.
const isOfLook = (element: Element, name: string): boolean =>
  !name.startsWith('data-') && (name !== 'style' || (attribute(element, name) ?? '').trim() !== '');

/** The attributes by which a page shows a state to the eye alone: liked, chosen, current. */
class Looks {
  readonly #seen = new Map<Element, Look>();
  readonly #added = new Set<Element>();
  readonly #removed = new Set<string>(); // as they were written
  #watchedOnFrom = Number.POSITIVE_INFINITY;

  see(records: readonly MutationRecord[]): void {
    const now = new Set<Look>();
    for (const { type, target, attributeName, oldValue, addedNodes, removedNodes } of records) {
      for (const one of addedNodes) if (isElement(one) && this.#added.size < mostKept) this.#added.add(one);
      for (const one of removedNodes)
        if (isElement(one) && this.#removed.size < mostKept) this.#removed.add(one.outerHTML);
      if (type !== 'attributes' || attributeName === null || attributeName === 'value') continue;
      if (!isElement(target)) continue;
      let look = this.#seen.get(target);
      if (look === undefined) {
        if (this.#seen.size >= mostKept) continue;
        look = { times: 0, from: performance.now(), until: 0, before: new Map() };
        this.#seen.set(target, look);
      }
      if (!look.before.has(attributeName)) look.before.set(attributeName, oldValue);
      now.add(look);
    }
    for (const look of now) {
      look.times++;
      look.until = performance.now();
    }
  }

  /**
   * Watches on for two intervals of what changes again and again. What was moved step by step, as by dragging, rests
   * then; a timer of the page is due before this one, however busy the machine is.
   */
  async watchOn(pause: (ms: number) => Promise<void>): Promise<void> {
    const intervals = Array.from(this.#seen.values(), (look) => (look.times > 1 ? intervalOf(look) : 0));
    const longest = Math.min(Math.max(0, ...intervals), longestIntervalMs);
    if (longest === 0) return;
    this.#watchedOnFrom = performance.now();
    await pause(2 * longest);
  }

  /** Whether what was put in the place of something is displayed, and not what was there. */
  drewAnew(): boolean {
    if (this.#removed.size === 0) return false;
    return Array.from(this.#added).some(
      (one) => isConnected(one) && isDisplayed(one) && !this.#removed.has(one.outerHTML),
    );
  }

  #isRestless({ times, until }: Look): boolean {
    return times >= restlessTimes && until > this.#watchedOnFrom;
  }

  /** What is different and displayed, without what never rests. */
  changed(): Restyled[] {
    const found: Restyled[] = [];
    for (const [element, look] of this.#seen) {
      if (this.#isRestless(look) || !isConnected(element) || !isDisplayed(element)) continue;
      if (sensitivity(element) !== undefined) continue;
      const different = Array.from(look.before).find(
        ([name, old]) => attribute(element, name) !== old && isOfLook(element, name),
      );
      if (different === undefined) continue;
      const [name, old] = different;
      const say = (value: string | null) => (value === null ? 'none' : named(cut(value, 60)));
      found.push({ element, what: `${name} ${say(old)} → ${say(attribute(element, name))}` });
      if (found.length === mostTold) break;
    }
    return found;
  }
}
