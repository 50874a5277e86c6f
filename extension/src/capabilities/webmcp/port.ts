// What the two worlds of a document say to each other about its tools, over a MessagePort. What comes from the page's
// world is the page's word, whoever has sent it.
import { exactly, type Guard, isNumber, isRecord, isText, shape } from '../../shared/guards.ts';

/** As what the isolated world's part registers with the bridge. It is of the same extension, always. */
export const adapter = { name: 'webmcp', hash: 'bundled' };

export const portEvent = 'tabrelay:tools';

/** To the page's world. */
export type ToPage =
  | { type: 'list' | 'abort'; number: number }
  | { type: 'call'; number: number; name: string; key: string; input: Record<string, unknown> };

/** From the page's world; answers are JSON text. */
export type FromPage = { type: 'changed' } | { type: 'answer'; number: number; text: string };

const isAsked = shape({ type: exactly('list', 'abort'), number: isNumber });
const isCall = shape({ type: exactly('call'), number: isNumber, name: isText, key: isText, input: isRecord });
export const isToPage: Guard<ToPage> = (value): value is ToPage => isAsked(value) || isCall(value);

const isChanged = shape({ type: exactly('changed') });
const isAnswer = shape({ type: exactly('answer'), number: isNumber, text: isText });
export const isFromPage: Guard<FromPage> = (value): value is FromPage => isChanged(value) || isAnswer(value);
