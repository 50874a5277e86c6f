// Steps of one call: what each is to bring, and what ends the call because its caller cannot have expected it.
import { ToolError } from '@tabrelay/plugin-sdk';
import { cut, quote } from '../words.ts';
import type { Effect } from './effect.ts';
import { NotDone } from './failure.ts';
import type { Filled } from './fields.ts';
import type { DialogAnswer, Page } from './page.ts';

const soonMs = 3000; // for what an earlier step or call brings
const againMs = 100;

/** Does what may need what an earlier step or call brings, once that is there. */
export async function soon<T>(page: Page, act: () => T | Promise<T>): Promise<T> {
  const until = performance.now() + soonMs;
  for (;;) {
    try {
      return await act();
    } catch (why) {
      if (!isNotThere(why) || performance.now() >= until) throw why;
      await page.pause(againMs);
    }
  }
}

// What it names is not in the page, or is no longer, and nothing was done.
const isNotThere = (why: unknown): boolean =>
  (why instanceof ToolError || why instanceof NotDone) &&
  why.code === 'REF_GONE' &&
  why.outcome === 'not_executed';

/** Why the steps behind this one are not done; undefined: nothing speaks against them. */
export function surprise(
  effect: Effect & { filled?: readonly Filled[]; notDone?: number },
  dialogs: DialogAnswer | undefined,
): string | undefined {
  if (effect.missing !== undefined) return `${quote(cut(effect.missing, 80))} did not appear`;
  if (effect.notDone !== undefined) return 'not all of it could be done';
  if (effect.filled?.some(({ verified }) => !verified) === true)
    return 'a field does not hold what was asked for';
  if (/(?:^|\. )Not valid: /.test(effect.note ?? '')) return 'the page refuses what a field holds';
  if (dialogs === undefined && effect.dialogs !== undefined) return 'the page opened a dialog';
  return undefined;
}
