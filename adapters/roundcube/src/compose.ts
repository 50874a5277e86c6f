// Writing mail: Roundcube prepares a message, fills in what it knows, and takes the rest as a form.

import { ToolError } from '@tabrelay/plugin-sdk';
import { parseHTML } from '@tabrelay/plugin-sdk/html';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import { act, page, type Reply } from './api.ts';

/** A prepared message: what its form holds by now. */
export interface Form {
  id: string;
  from: string;
  to: string;
  cc: string;
  subject: string;
  text: string;
}

/** `reply`: the message to answer, which Roundcube quotes and links to. */
export async function prepare(
  reply: { uid: number; folder: string; all: boolean } | undefined,
  signal: AbortSignal,
): Promise<Form> {
  const about = reply && {
    _reply_uid: reply.uid,
    _mbox: reply.folder,
    _all: reply.all ? 'all' : undefined,
  };
  for (let attempt = 0; attempt < 3; attempt++) {
    const form = parseHTML(await page({ _task: 'mail', _action: 'compose', ...about }, signal));
    const id = contentOf(form.querySelector('form [name="_id"]'));
    // Roundcube keeps what it prepared in the session, where another request of the person's tab that ends at that
    // moment may overwrite it. Nothing was sent then.
    if (id !== '') return filled(form, id);
  }
  throw new ToolError(
    'The webmail did not prepare a message. Nothing was sent; try again.',
    'NOT_PREPARED',
    {
      category: 'internal',
      retryable: true,
      outcome: 'not_executed',
    },
  );
}

const filled = (form: Document, id: string): Form => ({
  id,
  from: identity(form),
  to: field(form, '_to'),
  cc: field(form, '_cc'),
  subject: field(form, '_subject'),
  text: field(form, '_message'),
});

/** What goes into the form. */
export interface Composed {
  to: string;
  subject: string;
  text: string;
  cc?: string | undefined;
  bcc?: string | undefined;
}

/** Sends it, or keeps it as a draft. */
export function submit(
  form: Form,
  composed: Composed,
  draft: boolean,
  signal: AbortSignal,
): Promise<Reply> {
  return act(
    { _task: 'mail', _action: 'send' },
    {
      _id: form.id,
      _from: form.from,
      _to: composed.to,
      _cc: composed.cc,
      _bcc: composed.bcc,
      _subject: composed.subject,
      _message: composed.text,
      _is_html: 0,
      _draft: draft ? 1 : undefined,
    },
    signal,
  );
}

/** The value of a field, as the page was sent. */
function field(form: Document, name: string): string {
  const found = form.querySelector(`form [name="${name}"]`);
  if (found === null) throw invalidResponse(`the form has no field ${name}`);
  return contentOf(found);
}

const contentOf = (field: Element | null): string =>
  (field?.getAttribute('value') ?? field?.textContent ?? '').trim();

/** The identity that is chosen, or the first. */
function identity(form: Document): string {
  const options =
    form.querySelector('[name="_from"] option[selected]') ??
    form.querySelector('[name="_from"] option');
  const chosen = options?.getAttribute('value') ?? field(form, '_from');
  if (chosen === '') throw invalidResponse('the form has nobody to send from');
  return chosen;
}
