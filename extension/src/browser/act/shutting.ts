// Closes the list that filling a box has opened: it would lie over what is to be used next.
import { documentFor, focusedIn, isHtml, isTextField, nearest, within } from './dom.ts';
import { eventually, lateMs } from './fields.ts';
import { readKeys } from './keys.ts';
import { focusOn, pressAndRelease } from './mouse.ts';
import type { Page } from './page.ts';
import { ready } from './target.ts';
import { Clipboard } from './text.ts';
import { stroke } from './typing.ts';

const dialogs = 'dialog,[role=dialog],[role=alertdialog],[aria-modal=true]';

const closingMs = 200; // for a list that closes by itself once something is chosen

/** What is filled, and whether its list is open still. */
interface Opened {
  page: Page;
  ref: string;
  box: Element;
  isOpen: () => boolean;
}

/** Closes it as a person would, and says whether it is closed. */
export async function shut({ page, ref, box, isOpen }: Opened): Promise<boolean> {
  if (await eventually(page, closingMs, () => !isOpen())) return true;
  const takesKeys = isTextField(box) && !box.readOnly;
  const isInDialog = nearest(box, dialogs) !== null;
  // A dialog may hear Escape as well, and a press opens the list of a field that one types in.
  if (!isInDialog) pressEscape(box);
  if (await eventually(page, lateMs / 2, () => !isOpen())) return true;
  if (takesKeys) return false;
  const spot = await ready(page, ref, { uncovered: true, enabled: true }).catch(() => undefined);
  if (spot === undefined || !isOpen()) return !isOpen();
  await pressAndRelease(spot, { button: 'left', count: 1, modifiers: [], again: true });
  return eventually(page, lateMs / 2, () => !isOpen());
}

function pressEscape(box: Element): void {
  const owner = documentFor(box);
  const focused = focusedIn(owner);
  if (isHtml(box) && (focused === null || focused === owner.body || !within(focused, box))) focusOn(box);
  for (const key of readKeys('Escape')) stroke(owner, key, new Clipboard());
}
