// Saves text to a page, the same for a new page and an old one.

import { ToolError } from '@tabrelay/plugin-sdk';
import { asNumber, asText, isTrue, type JsonObject, objectAt } from '@tabrelay/plugin-sdk/json';
import { type Params, write } from './api.ts';

/** What a saved edit answers. */
export interface Saved {
  title: string;
  /** False when the page already had exactly this text; nothing was saved then. */
  changed: boolean;
  revisionId: number;
  previousRevisionId: number;
}

/** JSON Schema of [Saved]. */
export const savedOutput = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    changed: { type: 'boolean', description: 'False when the page already had exactly this text.' },
    revisionId: { type: 'integer', description: 'The base for the next edit; 0 when nothing changed.' },
    previousRevisionId: { type: 'integer' },
  },
  required: ['title', 'changed', 'revisionId', 'previousRevisionId'],
} as const;

export async function save(params: Params, signal: AbortSignal): Promise<Saved> {
  const edit = objectAt(await write({ action: 'edit', ...params }, signal), 'edit');
  if (edit.result !== 'Success') throw notSaved(edit);
  return {
    title: asText(edit.title),
    changed: !isTrue(edit.nochange),
    revisionId: asNumber(edit.newrevid),
    previousRevisionId: asNumber(edit.oldrevid),
  };
}

/** The wiki answered without an error and without saving: it wants a CAPTCHA, or an extension stopped the edit. */
function notSaved(edit: JsonObject): ToolError {
  const asksForCaptcha = 'captcha' in edit;
  return new ToolError(
    asksForCaptcha
      ? 'The wiki wants a CAPTCHA solved before it saves this. Ask the person to make the edit in the browser.'
      : `The wiki did not save the edit: ${asText(edit.info) || asText(edit.code) || 'it gave no reason'}.`,
    asksForCaptcha ? 'CAPTCHA_REQUIRED' : 'EDIT_REFUSED',
    { category: asksForCaptcha ? 'auth' : 'validation', outcome: 'not_executed' },
  );
}
