// The messages between the worker and a resident bridge over their port.
//
//   bridge                                   worker
//     hello {epoch, url, late, …}        -->          on every connect, also after the worker died
//                                        <--  epoch   of the extension: an old bridge is turned away by it; and
//                                                     whether another document could reach this one before it
//     here                               -->          heard; only now is it the bridge of its document
//                                        <--  call    a tool call; started, progress, log, outcome follow
//     outcome                            -->          kept by the bridge until ack
//                                        <--  ack
//                                        <--  cancel  ends a call; one that comes later never starts
//     cancelled {phase}                  -->          what became of it
//                                        <--  query   after a worker death: do you know this call?
//     known {phase}                      -->          "never": if it comes later, it never starts
//     stale {id}                         -->          a call waited long in a blocked page: is it still wanted?
//                                        <--  go
//                                        <--  console  keep the console for a while, and tell what it shows
//     consoleLines {lines}               -->
//     consoleGrew                        -->          at most twice a second
//                                        <--  look    at the tools that the page registers
//     tools {text}                       -->          now, on every connect, and whenever they are others
//                                        <--  unload  an adapter: its plugin was removed, disabled or updated
//                                        <--  record  the person records the tab, or does not any more
//     recorded {told}                    -->          what they did, and what the page was answered
//     followed {text}                    -->          what a call brought besides its outcome
//     dialog {open}                      -->          the last word before the page stands still
//     act {number, answer}               -->          an act of the browser's tools begins
//                                        <--  acting  the worker watches, and how many requests are under way
//                                        <--  lend    dialogs of the tab's other documents are answered, too
//     answered {dialog}                  -->          in one of these
//     touched {number, on}               -->          it sends the page an event by which the act is done
//     acted {number}                     -->          it is over
//                                        <--  news    what the worker saw meanwhile
//     pause {number, ms}                 -->          the page is hidden, and its timers are slow
//                                        <--  paused  the time is over
import {
  either,
  exactly,
  type Guard,
  type Guarded,
  isFlag,
  isNumber,
  isRecord,
  isText,
  listOf,
  optional,
  shape,
} from './guards.ts';
import { isCallOrder, isEnding, isLine, isStep } from './order.ts';

/** Who acts, in words for the person. */
const isActing = shape({
  client: isText,
  title: isText, // of the tool
});
export type Acting = Guarded<typeof isActing>;

/** How dialogs are answered while something acts in a page. */
const isDialogAnswer = either(exactly('accept', 'dismiss'), shape({ text: isText }));
export type DialogAnswer = Guarded<typeof isDialogAnswer>;

/** A dialog that was answered in the person's place. */
const isAnswered = shape({
  kind: exactly('alert', 'confirm', 'prompt', 'print', 'beforeunload'),
  text: isText,
  answered: isText,
});
export type Dialog = Guarded<typeof isAnswered>;

/** What happened outside of a document while an act went on in it. */
const isNews = shape({
  opened: optional(listOf(shape({ tabId: isNumber, url: isText }))),
  downloads: optional(listOf(isText)),
  failedRequests: optional(listOf(isText)),
  sent: optional(listOf(isText)), // requests that change something, and how they were answered
  underWay: optional(listOf(isText)), // requests without an answer yet, to change something
  awaited: optional(listOf(isText)), // requests without an answer yet that only fetch something
  dialogs: optional(listOf(isAnswered)),
  moreDialogs: optional(isNumber),
  blockedWindows: optional(listOf(isText)), // that the page wanted to open, and Chrome did not
  consoleErrors: optional(listOf(isText)), // that the page wrote meanwhile
});
export type News = Guarded<typeof isNews>;

/** Worker to bridge. */
export const isToBridge = either(
  shape({
    type: exactly('call'),
    order: isCallOrder,
    sentAt: isNumber,
    tailBytes: isNumber,
    acting: optional(isActing),
  }),
  shape({ type: exactly('ack'), ids: listOf(isText) }),
  shape({ type: exactly('cancel', 'query', 'go'), id: isText }),
  shape({ type: exactly('late'), plugin: isText, event: optional(isText) }), // event: that brings its port
  shape({ type: exactly('unload'), plugin: isText, hash: isText }),
  shape({ type: exactly('epoch'), epoch: isText, reached: isFlag }),
  shape({ type: exactly('console'), id: isText, holdMs: isNumber }),
  shape({ type: exactly('look') }), // at the tools that the page registers
  shape({ type: exactly('record'), on: isFlag }),
  shape({ type: exactly('acting'), number: isNumber, requests: isNumber }),
  shape({ type: exactly('lend'), answer: optional(isDialogAnswer) }),
  shape({ type: exactly('paused'), number: isNumber }),
  shape({ type: exactly('news'), number: isNumber, news: isNews }),
);
export type ToBridge = Guarded<typeof isToBridge>;

/** One line of a console. */
const isConsoleLine = shape({
  at: isNumber, // Unix milliseconds
  text: isText,
});
export type ConsoleLine = Guarded<typeof isConsoleLine>;

/** How far a call got in a document. */
const isPhase = exactly('never', 'running', 'finished');
export type Phase = Guarded<typeof isPhase>;

/** Where a call ran, and what the page's console showed meanwhile. */
const isPlace = shape({
  origin: isText,
  frame: optional(isText), // URL of the frame, when not the top one
  trust: optional(exactly('late')),
  consoleTail: optional(isText),
  nextRef: optional(isNumber), // after the last reference that the document has given
  durationMs: isNumber,
  times: optional(shape({ startUs: isNumber, endUs: isNumber })), // of the handler, since the call came
});
export type Place = Guarded<typeof isPlace>;

const isOutcomeMessage = shape({
  type: exactly('outcome'),
  id: isText,
  ending: isEnding,
  place: isPlace,
  late: isFlag, // the handler's own end, after the call had ended without it
});
export type OutcomeMessage = Guarded<typeof isOutcomeMessage>;

/** Console output or an uncaught error of a followed call. */
const isFollowed = shape({
  type: exactly('followed'),
  id: isText,
  plugin: isText,
  tool: isText,
  kind: exactly('console', 'error', 'rejection', 'early'),
  text: isText,
  places: optional(listOf(isText)),
  afterMs: optional(isNumber),
});
export type Followed = Guarded<typeof isFollowed>;

/** The guards of messages from bridge to worker, by type. */
const fromBridge = {
  outcome: isOutcomeMessage,
  followed: isFollowed,
  hello: shape({
    type: exactly('hello'),
    epoch: isText, // as the worker told it; empty on the first connect
    url: isText,
    late: isFlag,
    reached: optional(isFlag), // as the worker told it
    plugins: listOf(shape({ name: isText, hash: isText, main: isFlag })), // main: of the main world
    running: listOf(isText), // the ids of calls; ended ones follow as outcomes
  }),
  here: shape({ type: exactly('here') }),
  registered: shape({ type: exactly('registered'), name: isText, hash: isText, main: isFlag }),
  stale: shape({ type: exactly('stale'), id: isText }),
  waiting: shape({ type: exactly('waiting'), id: isText }),
  missing: shape({ type: exactly('missing'), id: isText }),
  lateReady: shape({ type: exactly('lateReady'), id: isText }),
  started: shape({ type: exactly('started'), id: isText, origin: isText, hidden: isFlag }),
  progress: shape({ type: exactly('progress'), id: isText, step: isStep, hidden: isFlag }),
  log: shape({ type: exactly('log'), id: isText, line: isLine }),
  cancelled: shape({ type: exactly('cancelled'), id: isText, phase: isPhase }),
  known: shape({ type: exactly('known'), id: isText, phase: isPhase }),
  consoleLines: shape({
    type: exactly('consoleLines'),
    id: isText,
    url: isText,
    since: isNumber,
    lines: listOf(isConsoleLine),
    dropped: isNumber,
  }),
  consoleGrew: shape({ type: exactly('consoleGrew') }),
  tools: shape({ type: exactly('tools'), text: isText }), // that the page registers; JSON
  recorded: shape({ type: exactly('recorded'), told: isText }),
  dialog: shape({ type: exactly('dialog'), open: isFlag, dialog: optional(isText) }),
  act: shape({ type: exactly('act'), number: isNumber, answer: isDialogAnswer }),
  touched: shape({ type: exactly('touched'), number: isNumber, on: isText }),
  acted: shape({ type: exactly('acted'), number: isNumber }),
  requests: shape({ type: exactly('requests'), number: isNumber }),
  answered: shape({ type: exactly('answered'), dialog: isAnswered }),
  pause: shape({ type: exactly('pause'), number: isNumber, ms: isNumber }),
};
export type FromBridge = Guarded<(typeof fromBridge)[keyof typeof fromBridge]>;

const byType = new Map<string, Guard<FromBridge>>(Object.entries(fromBridge));

export const isFromBridge: Guard<FromBridge> = (value): value is FromBridge =>
  isRecord(value) && isText(value.type) && (byType.get(value.type)?.(value) ?? false);
