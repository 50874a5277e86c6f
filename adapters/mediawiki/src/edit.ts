// Saves text to a page, the same for a new page and an old one.

import { ToolError } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get, type Params, write } from './api.ts';
import { onlyPage, shownTo, wikitext } from './pages.ts';

/** What a saved edit answers. */
export interface Saved {
  title: string;
  /** False when the page already had exactly this text; nothing was saved then. */
  changed: boolean;
  revisionId: number;
  previousRevisionId: number;
}

/** JSON Schema of [Saved]. */
export const savedOutput = s.object({
  title: s.string(),
  changed: s.boolean('False when the page already had exactly this text.'),
  revisionId: s.integer('The base for the next edit; 0 when nothing changed.'),
  previousRevisionId: s.integer(),
});

export async function save(params: Params, signal: AbortSignal): Promise<Saved> {
  const edit = (await write({ action: 'edit', ...params }, signal)).at('edit');
  if (edit.string('result') !== 'Success') throw notSaved(edit);
  const title = edit.string('title');
  if (edit.flag('nochange')) return { title, changed: false, revisionId: 0, previousRevisionId: 0 };
  const [revisionId, previousRevisionId] = [edit.number('newrevid'), edit.number('oldrevid')];
  return { title, changed: true, revisionId, previousRevisionId };
}

/** The wiki answered without an error and without saving: it wants a CAPTCHA, or an extension stopped the edit. */
function notSaved(edit: JsonReader): ToolError {
  const asksForCaptcha = edit.maybe('captcha') !== undefined;
  const reason =
    edit.maybe('info')?.string() ?? edit.maybe('code')?.string() ?? 'it gave no reason';
  return new ToolError(
    asksForCaptcha
      ? 'The wiki wants a CAPTCHA solved before it saves this. Ask the person to make the ' +
          'edit in the browser.'
      : `The wiki did not save the edit: ${reason}.`,
    asksForCaptcha ? 'CAPTCHA_REQUIRED' : 'EDIT_REFUSED',
    { category: asksForCaptcha ? 'auth' : 'validation', outcome: 'not_executed' },
  );
}

interface Wanted {
  section: number | undefined;
  withText: boolean;
}

/** The newest revision of a page, which an edit has to begin with. */
export async function newestRevision(
  title: string,
  { section, withText }: Wanted,
  signal: AbortSignal,
) {
  const answer = await get(
    {
      action: 'query',
      prop: 'revisions',
      titles: title,
      rvprop: ['ids', 'timestamp', 'user', ...(withText ? ['content'] : [])],
      ...(withText && { rvslots: 'main', rvsection: section }),
      curtimestamp: true,
    },
    signal,
  );
  const newest = onlyPage(answer, title).first('revisions');
  return {
    revisionId: newest.number('revid'),
    timestamp: newest.string('timestamp'),
    user: shownTo(newest, 'user') || 'a hidden user',
    seen: answer.string('curtimestamp'),
    text: () => wikitext(newest, title, section),
  };
}
