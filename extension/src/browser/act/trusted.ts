// A click that counts as a person's: this document says where, and the worker has Chrome's debugger do it.
import { turn } from '../pausing.ts';
import { stillAgreed } from './agreed.ts';
import { fits, isConnected, within } from './dom.ts';
import { NotDone } from './failure.ts';
import type { Pressing } from './mouse.ts';
import type { Page } from './page.ts';
import { coveredBy, type Spot } from './target.ts';

/** Tells the worker where to click. */
export type Say = (words: string, place: object) => void;

const arriveMs = 3000;

const frames = 'iframe, frame, object, embed, fencedframe';
const ofClicks = 'pointerdown mousedown pointerup mouseup click auxclick dblclick contextmenu'.split(' ');

// A page can put something else under the pointer as soon as that comes: it gets nothing of the click. What is pressed
// is clicked, or nothing is: Chrome gives no click to what comes under the pointer later.
function guarding(page: Page, { target, hit }: Spot): { end(): void; refused: NotDone[] } {
  const refused: NotDone[] = [];
  let blocks = false;
  const judge = (event: Event) => {
    if (!event.isTrusted) return;
    if (event.type === 'pointerdown') {
      const why = whyNot(page, [target, hit], event.composedPath()[0]);
      blocks = why !== undefined;
      if (why !== undefined) refused.push(why);
    }
    if (!blocks) return;
    if (event.type !== 'pointerdown') event.preventDefault(); // or Chrome would not say when the button is released
    event.stopImmediatePropagation();
  };
  for (const type of ofClicks) window.addEventListener(type, judge, true);
  return {
    refused,
    end: () => {
      for (const type of ofClicks) window.removeEventListener(type, judge, true);
    },
  };
}

function whyNot(page: Page, meant: [Element, Element], at: EventTarget | undefined): NotDone | undefined {
  const [target] = meant;
  if (!(at instanceof Element) || !isConnected(target))
    return new NotDone('TARGET_NOT_READY', `${page.describe(target)} went away under the pointer`);
  if (!meant.some((one) => within(at, one))) return coveredBy(page, target, at);
  try {
    stillAgreed(target);
  } catch (why) {
    if (why instanceof NotDone) return why;
    throw why;
  }
  return undefined;
}

/** Clicks once, and waits until the page has got it. */
export async function clickTrusted(
  page: Page,
  spot: Spot,
  { button, count, modifiers }: Pressing,
  say: Say | undefined,
): Promise<object> {
  if (say === undefined)
    throw new NotDone('NEEDS_TRUSTED_INPUT', 'A trusted click needs Chrome’s debugger', {
      hint: 'It is for click alone, in the page itself, with the extension that `tabrelay up --trusted-input` brings.',
    });
  let released = 0;
  let wake = () => {};
  const hear = (event: Event) => {
    if (event.isTrusted && ++released === count) wake();
  };
  window.addEventListener('mouseup', hear, true);
  const guard = guarding(page, spot);
  try {
    const inFrame = fits(spot.hit, frames);
    say('trusted', { x: spot.x, y: spot.y, button, count, modifiers, inFrame });
    await new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, arriveMs);
    });
    await turn(); // the click follows in the task in which the button is released
  } finally {
    window.removeEventListener('mouseup', hear, true);
    guard.end();
  }
  const [why] = guard.refused;
  if (why !== undefined && guard.refused.length === released) throw why;
  if (why !== undefined) return { trusted: true, note: `The page got no further click: ${why.message}` };
  return released > 0 ? { trusted: true } : { note: 'The page got no trusted click' };
}
