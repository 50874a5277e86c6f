// The way between the bridge (isolated world) and one adapter in the main world: a MessagePort, handed over at
// document_start inside an event, synchronously, while no script of the page exists that could listen.
import { exactly, type Guard, isNumber, isRecord, isText, shape } from '../shared/guards.ts';
import {
  type CallOrder,
  type Ending,
  isCallOrder,
  isEnding,
  isLine,
  isStep,
  type Line,
  type Step,
} from '../shared/order.ts';
import { dispatch, listen, MessageEventCtor, setPrototypeOf } from '../shared/primordials.ts';
import { isOutsideAnswer, isOutsideRequest, type OutsideAnswer, type OutsideRequest } from './outside.ts';
import { isUncaught, type Uncaught } from './uncaught.ts';

export const adapterEvent = 'tabrelay:adapter';
export const consoleEvent = 'tabrelay:console';
export const bridgeEvent = 'tabrelay:bridge';

/**
 * Gives port to the bridge, which cancels the event when it takes it; at once, or when a bridge that starts later
 * says that it is there.
 */
export function handOver(port: MessagePort, event: string): void {
  const init: MessageEventInit & { __proto__: null } = { __proto__: null, ports: [port], cancelable: true };
  const give = () => dispatch(document, new MessageEventCtor(event, init));
  if (give()) listen(document, bridgeEvent, give, { once: true });
}

/** Bridge to adapter. */
export type ToAdapter =
  | { type: 'run'; order: CallOrder }
  | { type: 'abort'; id: string; reason: 'cancelled' | 'document' }
  | { type: 'sign'; id: string; message: string } // of progress
  | { type: 'fetched'; answer: OutsideAnswer }
  | { type: 'unload' }; // its plugin was removed, disabled or updated

/** Adapter to bridge. */
export type FromAdapter =
  | { type: 'ready'; name: string; hash: string }
  | { type: 'waiting' | 'started'; id: string }
  | { type: 'progress'; id: string; step: Step }
  | { type: 'log'; id: string; line: Line }
  | { type: 'ended' | 'late'; id: string; ending: Ending }
  | { type: 'uncaught'; error: Uncaught }
  | { type: 'fetch'; request: OutsideRequest }
  | { type: 'unfetch'; number: number };

const isRun = shape({ type: exactly('run'), order: isCallOrder });
const isAbort = shape({ type: exactly('abort'), id: isText, reason: exactly('cancelled', 'document') });
const isSign = shape({ type: exactly('sign'), id: isText, message: isText });
const isFetched = shape({ type: exactly('fetched'), answer: isOutsideAnswer });
const isUnload = shape({ type: exactly('unload') });

const isToAdapter: Guard<ToAdapter> = (value): value is ToAdapter =>
  isRun(value) || isAbort(value) || isSign(value) || isFetched(value) || isUnload(value);

/** What came over the adapter's port, as a message. */
export function readToAdapter(value: unknown): ToAdapter | undefined {
  const message = standingAlone(value);
  const order = standingAlone(message?.order);
  standingAlone(order?.settings);
  standingAlone(message?.answer);
  return isToAdapter(message) ? message : undefined;
}

// A field that is not there would be looked for in what all objects inherit, and a getter that the page has put there
// is handed the object.
function standingAlone(value: unknown): Record<string, unknown> | undefined {
  if (!isRecord(value)) return undefined;
  setPrototypeOf(value, null);
  return value;
}

const isReady = shape({ type: exactly('ready'), name: isText, hash: isText });
const isMark = shape({ type: exactly('waiting', 'started'), id: isText });
const isProgress = shape({ type: exactly('progress'), id: isText, step: isStep });
const isLog = shape({ type: exactly('log'), id: isText, line: isLine });
const isEnd = shape({ type: exactly('ended', 'late'), id: isText, ending: isEnding });
const isThrown = shape({ type: exactly('uncaught'), error: isUncaught });
const isFetch = shape({ type: exactly('fetch'), request: isOutsideRequest });
const isUnfetch = shape({ type: exactly('unfetch'), number: isNumber });

export const isFromAdapter: Guard<FromAdapter> = (value): value is FromAdapter =>
  isMark(value) ||
  isEnd(value) ||
  isProgress(value) ||
  isLog(value) ||
  isReady(value) ||
  isThrown(value) ||
  isFetch(value) ||
  isUnfetch(value);
