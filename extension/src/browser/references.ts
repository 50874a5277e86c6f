// References: names by which an agent acts on elements. One belongs to an element for as long as both live, and is
// never given to another one, not even of a later document of the same tab.
import { connected } from './dom.ts';

/** Why a reference leads nowhere. Nothing was done. */
export interface Gone {
  code: 'REF_GONE' | 'DOCUMENT_CHANGED' | 'FRAME_GONE' | 'UNKNOWN_REF';
  message: string;
  said?: string; // how it was described
  successor?: string; // the reference of what has most likely taken its place
}

/** What an element is called: its role, and its name or a hint at what it is. */
export interface Called {
  role: string;
  name: string;
  unnamed?: true; // the name is only a hint
}

interface Known {
  element: WeakRef<Element>;
  said: string; // how it was described last
  called?: Called | undefined;
}

interface Table {
  prefix: string; // 'e' in the page of a tab, 'f2e' in a frame
  first: number; // lower ones were given in earlier documents of the tab
  next: number;
  byRef: Map<string, Known>;
}

declare global {
  /** Kept beside the code, which is put into the document again when the extension has a newer one. */
  var tabrelayReferences: { table: Table; of: WeakMap<Element, string>; gone?: number } | undefined;
}

const state = () => {
  globalThis.tabrelayReferences ??= {
    table: { prefix: 'e', first: 1, next: 1, byRef: new Map() },
    of: new WeakMap(),
  };
  return globalThis.tabrelayReferences;
};

/** Says what this document may name its elements; only heard before it has named one. */
export function adopt(prefix: string, first: number): void {
  const { table } = state();
  if (table.byRef.size > 0) return;
  table.prefix = prefix;
  table.first = first;
  table.next = Math.max(table.next, first);
}

/** The number after the last one that was given. */
export const nextNumber = (): number => state().table.next;

/** The reference of an element; it gets one when it has none. */
export function reference(element: Element): string {
  const { table, of } = state();
  const known = of.get(element);
  if (known !== undefined) return known;
  const ref = `${table.prefix}${table.next++}`;
  of.set(element, ref);
  if (table.byRef.size >= sweepAt) sweep();
  table.byRef.set(ref, { element: new WeakRef(element), said: '' });
  return ref;
}

/** The reference that an element has already. */
export const referenceOf = (element: Element): string | undefined => state().of.get(element);

/** Remembers how an element was described, to find what takes its place. */
export function remember(ref: string, said: string, called?: Called): void {
  const known = state().table.byRef.get(ref);
  if (known === undefined) return;
  known.said = said;
  known.called = called;
}

/** What an element was called when it was described last; undefined where it is no thing, or is gone. */
export function calledLast(ref: string): { element: Element; called: Called } | undefined {
  const { element, called } = state().table.byRef.get(ref) ?? {};
  const living = element?.deref();
  return living === undefined || called === undefined ? undefined : { element: living, called };
}

const form = /^(?:f\d+)?e(\d+)$/;

/** The element of a reference, or what became of it. */
export function resolve(ref: string): Element | Gone {
  const { table } = state();
  const known = table.byRef.get(ref);
  const element = known?.element.deref();
  if (element !== undefined && connected(element)) return element;
  if (known !== undefined) {
    const successor = successorOf(known.said);
    const { said } = known;
    const message = `${ref} was ${said === '' ? 'the element' : said}, which is no longer in the page`;
    const gone: Gone = { code: 'REF_GONE', message, ...(said !== '' && { said }) };
    return successor === undefined ? gone : { ...gone, successor };
  }
  const number = Number(form.exec(ref)?.[1]);
  if (!Number.isSafeInteger(number))
    return {
      code: 'UNKNOWN_REF',
      message: `${JSON.stringify(ref.slice(0, 40))} is not a reference, such as e12 or button "Save"`,
    };
  if (ref.startsWith(table.prefix) && number < table.first)
    return {
      code: 'DOCUMENT_CHANGED',
      message: `${ref} is from an earlier page: the tab shows another document now`,
    };
  if (ref.startsWith(table.prefix) && number < table.next)
    return { code: 'REF_GONE', message: `${ref} is no longer in the page` };
  return { code: 'UNKNOWN_REF', message: `${ref} was never given in this page` };
}

/** What to do about a reference that leads nowhere. */
export function hintFor({ said, successor }: Gone): string {
  if (successor !== undefined)
    return `Most likely it is now ${successor}: check whether it means the same before using it.`;
  const anew = 'Take a new snapshot, and use a reference of it.';
  if (said === undefined || !often()) return anew;
  return `This page keeps drawing itself anew. Pass as ref what the thing is and a text beside it: ${said} in "…"`;
}

const often = (): boolean => {
  const known = state();
  known.gone = (known.gone ?? 0) + 1;
  return known.gone > 1;
};

/** The things that were described, and how. */
export const described = (): { element: Element; said: string; ref: string }[] =>
  Array.from(state().table.byRef).flatMap(([ref, { element, said }]) => {
    const living = element.deref();
    return living === undefined || said === '' ? [] : [{ element: living, said, ref }];
  });

export const isGone = (found: Element | Gone): found is Gone => !(found instanceof Element);

// The one living element that was described in the same words.
function successorOf(said: string): string | undefined {
  if (said === '') return undefined;
  let found: string | undefined;
  for (const [ref, known] of state().table.byRef) {
    if (known.said !== said) continue;
    const element = known.element.deref();
    if (element === undefined || !connected(element)) continue;
    if (found !== undefined) return undefined; // there are several
    found = ref;
  }
  return found;
}

const leastSwept = 20_000;
let sweepAt = leastSwept;

// Forgets what was described of elements that are long gone, when there are very many: pages that draw themselves anew
// all the time would fill the memory. What is gone is still known as gone by its number.
function sweep(): void {
  const { byRef } = state().table;
  for (const [ref, known] of byRef) {
    if (byRef.size <= leastSwept / 2) break;
    if (known.element.deref() === undefined) byRef.delete(ref);
  }
  sweepAt = Math.max(leastSwept, 2 * byRef.size);
}
