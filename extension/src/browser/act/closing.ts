// What a browser closes by itself, for a person only: at Escape what is on top, and at a press elsewhere what stays
// open only while one is in it.
import { documentFor, fits, isElement, send, shadowOf, upwards, windowOf, within } from './dom.ts';

const lightPopovers = ':popover-open:is([popover=""], [popover=auto i], [popover=hint i])';

// The roots in which an element stands, from inside out: what is open is looked for there.
function rootsOf(element: Element): (Document | ShadowRoot)[] {
  const inner = Array.from(upwards(element), shadowOf).filter((root) => root !== null);
  return [...inner, documentFor(element)];
}

const openAround = (element: Element, selector: string): HTMLElement[] =>
  rootsOf(element)
    .flatMap((root) => Array.from(root.querySelectorAll(selector)))
    .filter((one) => one instanceof windowOf(element).HTMLElement);

/** Closes what Escape closes: a popover before the dialog around it, and nothing that only its own buttons close. */
export function closeTopmost(at: Element): void {
  const popover = openAround(at, lightPopovers).at(-1);
  if (popover !== undefined) {
    popover.hidePopover();
    return;
  }
  const dialogs = openAround(
    at,
    'dialog:modal, dialog[open]:is([closedby=any i], [closedby=closerequest i])',
  );
  const open = dialogs.findLast((one) => fits(one, ':modal')) ?? dialogs.at(-1);
  if (open === undefined || fits(open, '[closedby=none i]')) return;
  requestClose(open);
}

function requestClose(open: HTMLElement): void {
  const { Event, HTMLDialogElement } = windowOf(open);
  if (!(open instanceof HTMLDialogElement)) return;
  if (send(open, new Event('cancel', { cancelable: true }))) open.close();
}

/** Closes the popovers and dialogs that a person's press elsewhere closes. */
export function closeLight(pressed: Element): void {
  const open = openAround(pressed, lightPopovers);
  const kept = new Set(open.filter((one) => within(pressed, one) || isOpenedBy(pressed, one)));
  // One whose button opened another that stays, stays too.
  for (const inner of kept)
    for (const one of open) if (!kept.has(one) && holdsOpener(one, inner)) kept.add(one);
  for (const one of open.toReversed()) if (!kept.has(one) && fits(one, ':popover-open')) one.hidePopover();
  for (const one of openAround(pressed, 'dialog[open][closedby=any i]:not(:modal)'))
    if (!within(pressed, one)) requestClose(one);
}

const openers = '[popovertarget], [commandfor]';

function opens(opener: Element, popover: Element): boolean {
  const targets: unknown[] = [
    Reflect.get(opener, 'popoverTargetElement'),
    Reflect.get(opener, 'commandForElement'),
  ];
  return targets.some((one) => isElement(one) && one === popover);
}

const isOpenedBy = (pressed: Element, popover: Element): boolean =>
  Array.from(upwards(pressed)).some((at) => fits(at, openers) && opens(at, popover));

const holdsOpener = (outer: Element, inner: Element): boolean =>
  Array.from(outer.querySelectorAll(openers)).some((one) => opens(one, inner));
