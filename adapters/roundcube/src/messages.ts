// Messages as lists show them, and whether they are there at all.

import { ToolError } from '@tabrelay/plugin-sdk';
import { plainText } from '@tabrelay/plugin-sdk/html';
import { invalidResponse, jsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act, ask, type Command } from './api.ts';
import { missing } from './failures.ts';
import { people } from './markup.ts';

/** A row of a list: `add_message_row(uid, columns, flags, …)`. */
export function summary({ args }: Command) {
  const [uid, columns, flags] = jsonReader(args).list();
  if (!uid || !columns || !flags) throw invalidResponse('a row of the list has no columns');
  // A person may hide columns; of the flags those are named that are set.
  const column = (name: string) => plainText(columns.maybe(name)?.string() ?? '');
  const flag = (name: string) => flags.maybe(name)?.number() === 1;
  return {
    uid: typeof uid.value === 'string' ? Number(uid.value) : uid.number(),
    subject: plainText(columns.string('subject')),
    // Folders of sent mail show the recipient here.
    people: people(columns.maybe('fromto')?.string() ?? ''),
    date: column('date'),
    size: column('size'),
    unread: !flag('seen'),
    flagged: flag('flagged'),
    answered: flag('answered'),
    attachment: flag('hasattachment') || flags.string('ctype').startsWith('multipart/mixed'),
  };
}

/** JSON Schema of [summary]. */
export const summaryOutput = s.object({
  uid: s.integer(),
  subject: s.string(),
  people: s.string('The sender; in folders of sent mail the recipients.'),
  date: s.string('As the webmail shows it to the person; empty where they hide it.'),
  size: s.string(),
  unread: s.boolean(),
  flagged: s.boolean(),
  answered: s.boolean(),
  attachment: s.boolean(),
});

/** Fails with NOT_FOUND when one is missing: the webmail itself says "done" about messages that do not exist. */
export async function mustExist(
  folder: string,
  uids: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  // A folder that is missing is an error of its own.
  const { env } = await ask({ _task: 'mail', _action: 'list', _mbox: folder }, signal);
  if (env.number('exists') === 0) throw noSuchMessage(folder, uids);
  for (const uid of uids) {
    try {
      await ask({ _task: 'mail', _action: 'headers', _uid: uid, _mbox: folder }, signal);
    } catch (error) {
      // That it cannot be loaded is said in the person's language, without a code.
      if (error instanceof ToolError && error.category === 'validation')
        throw noSuchMessage(folder, [uid]);
      throw error;
    }
  }
}

export const noSuchMessage = (folder: string, uids: readonly number[]): ToolError =>
  missing(
    `There is no message ${uids.join(', ')} in ${folder}. It may have been moved: find it with list_messages.`,
  );

/**
 * Every page that shows a message marks it as read, and tells its script. Messages have no scripts: they are taken
 * out.
 */
export const wasUnread = (shown: Document): boolean =>
  [...shown.querySelectorAll('script')].some((one) =>
    one.textContent?.includes('set_unread_message('),
  );

export const markUnread = (folder: string, uid: number, signal: AbortSignal): Promise<unknown> =>
  act({ _task: 'mail', _action: 'mark' }, { _mbox: folder, _uid: uid, _flag: 'unread' }, signal);

/** Who and what, from the page of a message. */
export function headers(shown: Document) {
  const header = (name: string) =>
    people(shown.querySelector(`td.header.${name}`)?.innerHTML ?? '');
  // Besides its text the element may have a label and a link.
  const subject = shown.querySelector('#message-header .subject, td.header.subject');
  if (subject === null) throw invalidResponse('the page of the message has no subject');
  const words = [...subject.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
  return {
    subject: words.map((one) => one.textContent?.trim()).join(''),
    from: header('from'),
    to: header('to'),
    cc: header('cc'),
    date: header('date'),
  };
}

/** Its attachments, by the part of the message they are. */
export const attachments = (shown: Document) =>
  [...shown.querySelectorAll('li[id^="attach"]')].map((one) => ({
    part: one.id.slice('attach'.length),
    name: one.querySelector('.attachment-name')?.textContent ?? '',
    size: (one.querySelector('.attachment-size')?.textContent ?? '').replaceAll(/[()~]/g, ''),
  }));
