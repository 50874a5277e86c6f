// A click that counts as a person's: this document says where, and the worker has Chrome's debugger do it.
import { NotDone } from './failure.ts';
import type { Pressing } from './mouse.ts';
import type { Spot } from './target.ts';

/** Tells the worker where to click. */
export type Say = (words: string, place: object) => void;

const arriveMs = 3000;

/** Clicks once, and waits until the page has got it. */
export async function clickTrusted(
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
  try {
    say('trusted', { x: spot.x, y: spot.y, button, count, modifiers });
    await new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, arriveMs);
    });
  } finally {
    window.removeEventListener('mouseup', hear, true);
  }
  return released > 0 ? { trusted: true } : { note: 'The page got no trusted click' };
}
