// The part of the developer's tools that is among the page's own scripts. It is put into a document when a call asks
// for it, and touches nothing of the page before it is told to.
import { exactly, isFlag, isNumber, isRecord, isText, shape } from '../../../shared/guards.ts';
import {
  defineProperty,
  dispatch,
  dropTimer,
  eventData,
  later,
  listen,
  MessageChannelCtor,
  MessageEventCtor,
  portPost,
  portStart,
} from '../../../shared/primordials.ts';
import { watchBodies } from './bodies.ts';
import { type Said, watchConsole } from './console.ts';
import { evaluate } from './evaluate.ts';

const offered = 'tabrelay:dev';
const wanted = 'tabrelay:dev-wanted';

const isWatch = shape({ type: exactly('watch'), console: isFlag, bodies: isFlag });
const isSync = shape({ type: exactly('sync'), id: isNumber });
const isEvaluate = shape({
  type: exactly('evaluate'),
  id: isNumber,
  expression: isText,
  statements: isText,
  limits: shape({ parts: isNumber, characters: isNumber, depth: isNumber }),
});

const mostHeld = 1000; // messages until they are fetched
const flushMs = 100;
const forgottenMs = 30 * 60_000; // without a word of anybody the capture ends by itself

function append(list: unknown[], value: unknown): void {
  defineProperty(list, list.length, { value, enumerable: true, configurable: true, writable: true });
}

/** Connects to the isolated world whenever it asks; captures the console from now on where that was asked before. */
export function start(capturing: boolean): void {
  let port: MessagePort | undefined;
  let held: Said[] = [];
  let dropped = 0;
  let flushing = false;
  let endConsole: (() => void) | undefined;
  let endBodies: (() => void) | undefined;
  let forgotten: ReturnType<typeof setTimeout> | undefined;

  const post = (message: unknown) => {
    if (port === undefined) return;
    try {
      portPost(port, message);
    } catch {
      // what cannot be cloned is not told
    }
  };
  const flush = () => {
    flushing = false;
    if (port === undefined || (held.length === 0 && dropped === 0)) return;
    post({ type: 'said', all: held, dropped });
    held = [];
    dropped = 0;
  };
  const heard = (said: Said) => {
    append(held, said);
    if (held.length >= 2 * mostHeld) {
      const newest: Said[] = [];
      for (let i = held.length - mostHeld; i < held.length; i++) append(newest, held[i]);
      dropped += held.length - mostHeld;
      held = newest;
    }
    if (port === undefined || flushing) return;
    flushing = true;
    later(flush, flushMs);
  };
  const watch = (console: boolean, bodies: boolean) => {
    if (console) endConsole ??= watchConsole(heard);
    else {
      endConsole?.();
      endConsole = undefined;
    }
    if (bodies) endBodies ??= watchBodies((body) => post({ type: 'body', ...body }));
    else {
      endBodies?.();
      endBodies = undefined;
    }
    if (forgotten !== undefined) dropTimer(forgotten);
    forgotten = console || bodies ? later(() => watch(false, false), forgottenMs) : undefined;
  };
  const hear = (message: unknown) => {
    if (isWatch(message)) watch(message.console, message.bodies);
    else if (isSync(message)) {
      flush();
      post({ type: 'synced', id: message.id });
    } else if (isEvaluate(message)) {
      const { id } = message;
      evaluate(message, message.limits, (ended) => post({ type: 'evaluated', id, ended }));
    }
  };
  const offer = () => {
    const channel = new MessageChannelCtor();
    const ours = channel.port1;
    listen(ours, 'message', (event) => {
      const message = eventData(event);
      if (isRecord(message)) hear(message);
    });
    portStart(ours);
    const taken = !dispatch(
      document,
      new MessageEventCtor(offered, { ports: [channel.port2], cancelable: true }),
    );
    if (taken) port = ours;
  };
  listen(document, wanted, offer);
  if (capturing) watch(true, false);
  offer();
}
