// Saves the text of a page through the wiki's own editor, which locks the page meanwhile, knows from which revision the
// text was made, and has the fields that plugins of the wiki add.

import { withFreshToken } from '@tabrelay/plugin-sdk';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { errors, isSignedIn, mustBeSignedIn, open, type Shown, submit, textOf } from './api.ts';
import * as failures from './failures.ts';
import { fieldsOf } from './form.ts';
import { nameOf, newestRevision } from './pages.ts';

export interface Editor {
  id: string;
  fields: Record<string, string>;
  /** The text that is in it. */
  text: string;
  /** When the page was saved last; 0 when there is none. */
  date: number;
  /** The server's clock. */
  openedAt: number;
}

interface Wanted {
  id: string;
  /** The old revision to bring back. */
  revision?: number;
}

export interface Change {
  text: string;
  summary: string;
  minor?: boolean;
}

/** What a saved edit answers. */
export const savedOutput = s.object({
  id: s.string(),
  changed: s.boolean('False when the page already had exactly this text.'),
  revision: s.integer('The base for the next edit.'),
});

/**
 * Opens the editor, decides in it what to write, and saves that. `decide` may throw: the page is unlocked then, and
 * nothing was changed. A token that is not taken is asked for anew once, with the form: nothing was saved before that.
 */
export function edit(
  wanted: Wanted,
  decide: (editor: Editor) => Promise<Change> | Change,
  signal: AbortSignal,
): Promise<{ id: string; changed: boolean; revision: number }> {
  let attempts = 0;
  const fresh = {
    // A form that is sent with an old token becomes a draft; it is ours then.
    get: () => openEditor(wanted, attempts++ > 0, signal),
    isRefused: failures.isTokenRefused,
  };
  return withFreshToken(fresh, async (editor) => {
    try {
      const change = await decide(editor);
      if (editor.date > 0 && change.text === editor.text && wanted.revision === undefined) {
        await unlock(editor.id, signal);
        return { id: editor.id, changed: false, revision: editor.date };
      }
      await save(editor, change, signal);
    } catch (error) {
      await unlock(editor.id, signal).catch(() => {}); // How the edit ended counts more; a lock ends by itself.
      throw error;
    }
    const { newest } = await newestRevision(editor.id, signal);
    if (newest === undefined)
      throw invalidResponse('the page has no history after it was saved', 'executed');
    return { id: editor.id, changed: newest.revision !== editor.date, revision: newest.revision };
  });
}

/** Nobody has saved the page since the agent read it; of a deleted page the deletion counts. */
export async function mustBeAt(
  base: number,
  { id, date }: Editor,
  signal: AbortSignal,
): Promise<void> {
  if (date === base) return;
  const { newest } = await newestRevision(id, signal);
  if (newest === undefined) throw failures.noSuchPage(id);
  if (date > 0 || newest.revision !== base)
    throw failures.conflict(id, base, `: it is now at ${newest.revision}, by ${newest.user}`);
}

async function openEditor(
  { id, revision }: Wanted,
  isRepeated: boolean,
  signal: AbortSignal,
): Promise<Editor> {
  const asked = { do: 'edit', id: nameOf(id), rev: revision };
  const shown = await open(asked, signal, ['locked', 'source']);
  if (shown.action === 'source') throw failures.denied(isSignedIn(shown.page));
  if (shown.action === 'locked') throw lockOf(shown);
  await mustBeSignedIn(shown.page, signal);
  const { page } = shown;
  const form = page.querySelector('#dw__editform');
  const area = form?.querySelector('textarea[name="wikitext"]');
  if (!form || !area) throw invalidResponse('the editor of this wiki is not the one of DokuWiki');
  const fields = fieldsOf(form);
  if (textOf(page.querySelector('#draft__status')) !== '' && !isRepeated)
    throw failures.draftWaits(shown.id);
  if (asksForCaptcha(form)) {
    await unlock(shown.id, signal);
    throw failures.captchaRequired();
  }
  const date = Number(fields.date ?? '');
  return { id: shown.id, fields, text: area.textContent ?? '', date, openedAt: shown.at };
}

async function save(
  { id, fields, date, openedAt }: Editor,
  change: Change,
  signal: AbortSignal,
): Promise<void> {
  const sent = {
    ...fields,
    // Of a page that did not exist the wiki compares nothing, unless it gets a time.
    date: date > 0 ? date : openedAt,
    wikitext: change.text,
    summary: change.summary || fields.summary,
    minor: change.minor === true ? '1' : undefined,
    'do[save]': '1',
  };
  const shown = await submit(sent, signal);
  const said = errors(shown.page);
  switch (shown.action) {
    case 'show':
      return;
    case 'conflict':
      throw failures.conflict(id, date, '');
    case 'locked':
      throw lockOf(shown);
    case 'edit':
    case 'preview':
      // The one message of the wiki that is in English always.
      if (said.includes('Security Token did not match')) throw failures.tokenRefused();
      throw asksForCaptcha(shown.page) ? failures.captchaRequired() : failures.editRefused(said);
  }
  throw invalidResponse(`the wiki answered the save with "${shown.action}"`, 'unknown');
}

/** Opening a page ends the person's own lock of it. */
const unlock = async (id: string, signal: AbortSignal): Promise<void> => {
  await open({ do: 'show', id }, signal);
};

const asksForCaptcha = (root: ParentNode): boolean =>
  root.querySelector('[name*="captcha" i], [id*="captcha" i], [class*="captcha" i]') !== null;

/** Who has the page, and for how long, as the wiki says it above the text. */
function lockOf({ id, page }: Shown): Error {
  const lines = [...page.querySelectorAll('ul > li > div.li')].filter(
    (line) => line.firstElementChild?.localName === 'strong',
  );
  const said = lines.map(textOf).join('. ');
  const minutes = /\((-?\d+)\s*min\)/.exec(said)?.[1] ?? '15';
  return failures.locked(id, said === '' ? '' : `${said}.`, Number(minutes));
}
