// What crosses the port between the panel page and the worker, besides the state (state.ts).
import {
  exactly,
  type Guard,
  type Guarded,
  isAnything,
  isNumber,
  isText,
  listOf,
  optional,
  shape,
} from '../page/guards.ts';

/** Panel: dial now. */
export const isRetry = shape({ type: exactly('retry') });

/** Panel: what a person pasted to pair with a relay (only an extension without pairing.json asks for it). */
export const isPair = shape({ type: exactly('pair'), text: isText });

/** Panel: a request for the relay. The path begins with /api/v1/; body is one JSON value, or left out. */
export const isRequest = shape({
  type: exactly('request'),
  id: isText,
  method: exactly('GET', 'PUT', 'POST', 'DELETE'),
  path: isText,
  body: optional(isAnything),
});
export type PanelRequest = Guarded<typeof isRequest>;

/** Worker: the relay's answer, status as in HTTP. Without a connection to the relay it is 503 with an error. */
export const isResponse = shape({
  type: exactly('response'),
  id: isText,
  status: isNumber,
  body: optional(isAnything),
});
export type PanelResponse = Guarded<typeof isResponse>;

/** Worker: what the paths of these names below /api/v1/ answer is different now. */
export const isNews = shape({ type: exactly('news'), topics: listOf(isText) });

/** The body of an answer with a status of 400 and more. */
export const isFailure: Guard<{ error: { message: string; hint: string | undefined } }> = shape({
  error: shape({ message: isText, hint: optional(isText) }),
});
