// What only a person's own input does: said before anything is done.

import { usedAgain } from '../items.ts';
import { page } from './document.ts';
import { isInput, isSelect } from './dom.ts';
import { NotDone } from './failure.ts';

// What a click opens is Chrome's own, and opens for a person only.
export function refusePickers(target: Element): void {
  const forFiles = isInput(target) && target.type === 'file';
  const forOptions = isSelect(target) && !target.multiple && target.size <= 1;
  if (!forFiles && !forOptions) return;
  const hint = forFiles ? 'Use upload' : 'Use fill with the name of an option';
  throw new NotDone(
    'NEEDS_TRUSTED_INPUT',
    `A click on ${page.describe(target)} opens a list of the browser`,
    {
      hint,
    },
  );
}

// Chrome puts these fields together of parts, and types into a part for a person only.
export function refuseParts(field: Element): void {
  if (!isInput(field) || !/^(?:date|time|month|week|color|range|datetime-local)$/.test(field.type)) return;
  throw new NotDone('NEEDS_TRUSTED_INPUT', `What is typed does not reach ${page.describe(field)}`, {
    hint: 'Use fill with its value',
  });
}

/** Throws where a row shows something other than when it was told: long lists use the elements of their rows again. */
export function refuseUsedAgain(target: Element): void {
  const again = usedAgain(target);
  if (again === undefined) return;
  const message = `${page.describe(target)} stood in ${again.was}; the page shows ${again.is} there now`;
  throw new NotDone('REF_GONE', message, { hint: 'Take a new snapshot, and use a reference of it.' });
}
