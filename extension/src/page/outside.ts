// Same-origin requests of a main-world adapter, sent by the bridge: there the page's connect-src does not hold. They
// carry the person's cookies and the page's Origin, like the page's own.
import { exactly, type Guard, isFlag, isNumber, isText, listOf, optional, shape } from '../shared/guards.ts';
import {
  deferred,
  defineProperty,
  isA,
  MapCtor,
  mapDelete,
  mapGet,
  mapHas,
  mapSet,
  TypeErrorCtor,
} from '../shared/primordials.ts';
import { bare, type Described, describe, headersFrom, onAbort } from './network.ts';

const ArrayBufferCtor = ArrayBuffer;
const ResponseCtor = Response;

/** A request as it crosses the port. */
export interface OutsideRequest extends Described {
  number: number; // counts the requests of one adapter
}

/** Its answer. */
export type OutsideAnswer =
  | {
      number: number;
      failed?: undefined;
      url: string;
      status: number;
      statusText: string;
      redirected: boolean;
      headers: string[][];
      body: ArrayBuffer;
    }
  | { number: number; failed: string };

const isBuffer: Guard<ArrayBuffer> = (value): value is ArrayBuffer => isA(value, ArrayBufferCtor);
const isPairs = listOf(listOf(isText));

export const isOutsideRequest: Guard<OutsideRequest> = shape({
  number: isNumber,
  url: isText,
  method: isText,
  headers: isPairs,
  redirect: exactly('error', 'follow', 'manual'),
  body: optional(isBuffer),
});

const isGood = shape({
  number: isNumber,
  failed: optional<undefined>((_value): _value is undefined => false),
  url: isText,
  status: isNumber,
  statusText: isText,
  redirected: isFlag,
  headers: isPairs,
  body: isBuffer,
});
const isBad = shape({ number: isNumber, failed: isText });

export const isOutsideAnswer: Guard<OutsideAnswer> = (value): value is OutsideAnswer =>
  isGood(value) || isBad(value);

/** What the adapter has for it, and where the answers go. */
export interface Outside {
  fetch(request: Request): Promise<Response>;
  hear(answer: OutsideAnswer): void;
}

const isBodiless = (status: number): boolean => status === 204 || status === 205 || status === 304;

function responseOf(answer: OutsideAnswer & { failed?: undefined }): Response {
  const { status, statusText, body, url, redirected } = answer;
  const init = bare({ status, statusText, headers: headersFrom(answer.headers) });
  const response = new ResponseCtor(isBodiless(status) ? null : body, init);
  defineProperty(response, 'url', { value: url });
  defineProperty(response, 'redirected', { value: redirected });
  return response;
}

/** Sends requests with post; the bridge's answers come to hear. */
export function openOutside(
  post: (request: OutsideRequest) => void,
  withdraw: (number: number) => void,
): Outside {
  const waiting = new MapCtor<number, { resolve(response: Response): void; reject(why: unknown): void }>();
  let count = 0;
  return {
    fetch(request) {
      const { promise, resolve, reject } = deferred<Response>();
      const number = ++count;
      mapSet(waiting, number, { resolve, reject });
      onAbort(request, (reason) => {
        if (!mapDelete(waiting, number)) return;
        withdraw(number);
        reject(reason);
      });
      const described = (about: Described) => mapHas(waiting, number) && post({ number, ...about });
      describe(request, described, reject);
      return promise;
    },
    hear(answer) {
      const asked = mapGet(waiting, answer.number);
      if (asked === undefined) return;
      mapDelete(waiting, answer.number);
      if (answer.failed === undefined) asked.resolve(responseOf(answer));
      else asked.reject(new TypeErrorCtor(answer.failed));
    },
  };
}
