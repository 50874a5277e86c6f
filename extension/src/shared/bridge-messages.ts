// What the worker and a resident bridge say to each other over their port, drawn in one place.
//
//   bridge                                   worker
//     hello {epoch, url, late, …}        -->          on every connect, also after the worker died
//                                        <--  epoch   of the extension: an old bridge is turned away by it; and
//                                                     whether another document could reach this one before it
//     here                               -->          heard; only now is it the bridge of its document
//                                        <--  call    a tool call; started, progress, log, outcome follow
//     outcome                            -->          kept by the bridge until ack
//                                        <--  ack
//                                        <--  cancel  ends a call, or leaves a tombstone for one not seen yet
//     cancelled {phase}                  -->          what became of it
//                                        <--  query   after a worker death: do you know this call?
//     known {phase}                      -->          "never" leaves a tombstone too
//     stale {id}                         -->          a call waited long in a blocked page: is it still wanted?
//                                        <--  go
//                                        <--  console  keep the console for a while, and tell what it shows
//     consoleLines {lines}               -->
//     consoleGrew                        -->          at most twice a second
//                                        <--  look    at the tools that the page registers
//     tools {text}                       -->          now, on every connect, and whenever they are others
//                                        <--  retire  an adapter: its plugin was removed, disabled or updated
//                                        <--  record  the person records the tab, or does not any more
//     recorded {told}                    -->          what they did, and what the page was answered
//     followed {text}                    -->          what a call brought besides its outcome
//     dialog {open}                      -->          the last word before the page stands still
//     act {number, answer}               -->          an act of the browser's tools begins
//                                        <--  acting  the worker watches, and how many requests are under way
//                                        <--  lend    dialogs of the tab's other documents are answered, too
//     answered {dialog}                  -->          in one of these
//     touched {number, on}               -->          it has sent the page an event: from here on something is done
//     acted {number}                     -->          it is over
//                                        <--  news    what the worker saw meanwhile
//     pause {number, ms}                 -->          the page is hidden, and its timers are slow
//                                        <--  paused  the time is over
import {
  exactly,
  type Guard,
  isFlag,
  isNumber,
  isRecord,
  isText,
  listOf,
  optional,
  shape,
} from './guards.ts';
import {
  type CallOrder,
  type Ending,
  isCallOrder,
  isEnding,
  isLine,
  isStep,
  type Line,
  type Step,
} from './order.ts';

/** Worker to bridge. */
export type ToBridge =
  | { type: 'call'; order: CallOrder; sentAt: number; tailBytes: number; acting?: Acting | undefined }
  | { type: 'cancel' | 'query' | 'go'; id: string }
  | { type: 'ack'; ids: string[] }
  | { type: 'late'; plugin: string }
  | { type: 'retire'; plugin: string; hash: string }
  | { type: 'epoch'; epoch: string; reached: boolean }
  | { type: 'console'; id: string; holdMs: number }
  | { type: 'record'; on: boolean }
  | { type: 'acting'; number: number; requests: number }
  | { type: 'look' } // at the tools that the page registers
  | { type: 'lend'; answer?: DialogAnswer | undefined }
  | { type: 'news'; number: number; news: News }
  | { type: 'paused'; number: number };

/** Who acts, in words for the person. */
export interface Acting {
  client: string;
  title: string; // of the tool
}

/** How dialogs are answered while something acts in a page. */
export type DialogAnswer = 'accept' | 'dismiss' | { text: string };

/** A dialog that was answered in the person's place. */
export interface Dialog {
  kind: 'alert' | 'confirm' | 'prompt' | 'print' | 'beforeunload';
  text: string;
  answered: string;
}

/** What happened outside of a document while an act went on in it. */
export interface News {
  opened?: { tabId: number; url: string }[] | undefined;
  downloads?: string[] | undefined;
  failedRequests?: string[] | undefined;
  sent?: string[] | undefined; // requests that change something, and how they were answered
  underWay?: string[] | undefined; // requests without an answer yet, to change something
  awaited?: string[] | undefined; // requests without an answer yet that only fetch something
  dialogs?: Dialog[] | undefined;
  moreDialogs?: number | undefined;
  blockedWindows?: string[] | undefined; // that the page wanted to open, and Chrome did not
  consoleErrors?: string[] | undefined; // that the page wrote meanwhile
}

/** One line of a console. */
export interface ConsoleLine {
  at: number; // Unix milliseconds
  text: string;
}

/** How far a call got in a document. */
export type Phase = 'never' | 'running' | 'finished';

/** Where a call ran, and what the page's console showed meanwhile. */
export interface Place {
  origin: string;
  frame?: string | undefined; // URL of the frame, when not the top one
  trust?: 'late' | undefined;
  consoleTail?: string | undefined;
  nextRef?: number | undefined; // after the last reference that the document has given
  durationMs: number;
}

export interface OutcomeMessage {
  type: 'outcome';
  id: string;
  ending: Ending;
  place: Place;
  late: boolean; // the handler's own end, after the call had ended without it
}

/** What a followed call brought besides its outcome. */
export interface Followed {
  type: 'followed';
  id: string;
  plugin: string;
  tool: string;
  kind: 'console' | 'error' | 'rejection' | 'early';
  text: string;
  places?: string[] | undefined;
  afterMs?: number | undefined;
}

/** Bridge to worker. */
export type FromBridge =
  | {
      type: 'hello';
      epoch: string; // as the worker told it; empty on the first connect
      url: string;
      late: boolean;
      reached?: boolean | undefined; // as the worker told it
      plugins: { name: string; hash: string; main: boolean }[]; // main: of the main world
      running: string[]; // the ids of calls; ended ones follow as outcomes
    }
  | { type: 'here' }
  | { type: 'registered'; name: string; hash: string; main: boolean }
  | { type: 'stale' | 'waiting' | 'missing' | 'lateReady'; id: string }
  | { type: 'started'; id: string; origin: string; hidden: boolean }
  | { type: 'progress'; id: string; step: Step; hidden: boolean }
  | { type: 'log'; id: string; line: Line }
  | { type: 'cancelled' | 'known'; id: string; phase: Phase }
  | { type: 'consoleLines'; id: string; url: string; since: number; lines: ConsoleLine[]; dropped: number }
  | { type: 'consoleGrew' }
  | { type: 'tools'; text: string } // that the page registers; JSON
  | { type: 'recorded'; told: string }
  | Followed
  | { type: 'dialog'; open: boolean; dialog?: string | undefined }
  | { type: 'act'; number: number; answer: DialogAnswer }
  | { type: 'touched'; number: number; on: string }
  | { type: 'acted'; number: number }
  | { type: 'requests'; number: number }
  | { type: 'answered'; dialog: Dialog }
  | { type: 'pause'; number: number; ms: number }
  | OutcomeMessage;

const isActing = shape({ client: isText, title: isText });
const isCall = shape({
  type: exactly('call'),
  order: isCallOrder,
  sentAt: isNumber,
  tailBytes: isNumber,
  acting: optional(isActing),
});
const isAbout = shape({ type: exactly('cancel', 'query', 'go'), id: isText });
const isAck = shape({ type: exactly('ack'), ids: listOf(isText) });
const isLate = shape({ type: exactly('late'), plugin: isText });
const isRetire = shape({ type: exactly('retire'), plugin: isText, hash: isText });
const isLook = shape({ type: exactly('look') });
const isConsole = shape({ type: exactly('console'), id: isText, holdMs: isNumber });
const isRecording = shape({ type: exactly('record'), on: isFlag });
const isEpoch = shape({ type: exactly('epoch'), epoch: isText, reached: isFlag });

const isAnswerText = shape({ text: isText });
const isAnswer: Guard<DialogAnswer> = (value): value is DialogAnswer =>
  value === 'accept' || value === 'dismiss' || isAnswerText(value);
const isDialogKind = exactly('alert', 'confirm', 'prompt', 'print', 'beforeunload');
const isAnswered: Guard<Dialog> = shape({ kind: isDialogKind, text: isText, answered: isText });
const isNews: Guard<News> = shape({
  opened: optional(listOf(shape({ tabId: isNumber, url: isText }))),
  downloads: optional(listOf(isText)),
  failedRequests: optional(listOf(isText)),
  sent: optional(listOf(isText)),
  underWay: optional(listOf(isText)),
  awaited: optional(listOf(isText)),
  dialogs: optional(listOf(isAnswered)),
  moreDialogs: optional(isNumber),
  blockedWindows: optional(listOf(isText)),
});
const isUnderWay = shape({ type: exactly('acting'), number: isNumber, requests: isNumber });
const isLend = shape({ type: exactly('lend'), answer: optional(isAnswer) });
const isPaused = shape({ type: exactly('paused'), number: isNumber });
const isTold = shape({ type: exactly('news'), number: isNumber, news: isNews });

export const isToBridge: Guard<ToBridge> = (value): value is ToBridge =>
  isCall(value) ||
  isAck(value) ||
  isAbout(value) ||
  isLate(value) ||
  isRetire(value) ||
  isEpoch(value) ||
  isConsole(value) ||
  isLook(value) ||
  isRecording(value) ||
  isUnderWay(value) ||
  isLend(value) ||
  isPaused(value) ||
  isTold(value);

const isPhase: Guard<Phase> = exactly('never', 'running', 'finished');
const isPlace: Guard<Place> = shape({
  origin: isText,
  frame: optional(isText),
  trust: optional(exactly('late')),
  consoleTail: optional(isText),
  nextRef: optional(isNumber),
  durationMs: isNumber,
});
const isOutcomeMessage: Guard<OutcomeMessage> = shape({
  type: exactly('outcome'),
  id: isText,
  ending: isEnding,
  place: isPlace,
  late: isFlag,
});
const isHello = shape({
  type: exactly('hello'),
  epoch: isText,
  url: isText,
  late: isFlag,
  reached: optional(isFlag),
  plugins: listOf(shape({ name: isText, hash: isText, main: isFlag })),
  running: listOf(isText),
});
const isHere = shape({ type: exactly('here') });
const isRegistered = shape({ type: exactly('registered'), name: isText, hash: isText, main: isFlag });
const isMark = shape({ type: exactly('stale', 'waiting', 'missing', 'lateReady'), id: isText });
const isStarted = shape({ type: exactly('started'), id: isText, origin: isText, hidden: isFlag });
const isProgress = shape({ type: exactly('progress'), id: isText, step: isStep, hidden: isFlag });
const isLog = shape({ type: exactly('log'), id: isText, line: isLine });
const isPhaseReport = shape({ type: exactly('cancelled', 'known'), id: isText, phase: isPhase });

const isConsoleLines = shape({
  type: exactly('consoleLines'),
  id: isText,
  url: isText,
  since: isNumber,
  lines: listOf(shape({ at: isNumber, text: isText })),
  dropped: isNumber,
});
const isTools = shape({ type: exactly('tools'), text: isText });
const isRecorded = shape({ type: exactly('recorded'), told: isText });
const isFollowed: Guard<Followed> = shape({
  type: exactly('followed'),
  id: isText,
  plugin: isText,
  tool: isText,
  kind: exactly('console', 'error', 'rejection', 'early'),
  text: isText,
  places: optional(listOf(isText)),
  afterMs: optional(isNumber),
});
const isConsoleGrew = shape({ type: exactly('consoleGrew') });
const isDialog = shape({ type: exactly('dialog'), open: isFlag, dialog: optional(isText) });
const isAct = shape({ type: exactly('act'), number: isNumber, answer: isAnswer });
const isTouched = shape({ type: exactly('touched'), number: isNumber, on: isText });
const isActed = shape({ type: exactly('acted'), number: isNumber });
const isRequests = shape({ type: exactly('requests'), number: isNumber });
const isPause = shape({ type: exactly('pause'), number: isNumber, ms: isNumber });
const isAnsweredElsewhere = shape({ type: exactly('answered'), dialog: isAnswered });

const fromBridge = new Map<string, Guard<FromBridge>>(
  Object.entries({
    outcome: isOutcomeMessage,
    started: isStarted,
    progress: isProgress,
    log: isLog,
    hello: isHello,
    here: isHere,
    registered: isRegistered,
    stale: isMark,
    waiting: isMark,
    missing: isMark,
    lateReady: isMark,
    cancelled: isPhaseReport,
    known: isPhaseReport,
    consoleLines: isConsoleLines,
    consoleGrew: isConsoleGrew,
    tools: isTools,
    recorded: isRecorded,
    followed: isFollowed,
    dialog: isDialog,
    act: isAct,
    acted: isActed,
    requests: isRequests,
    touched: isTouched,
    answered: isAnsweredElsewhere,
    pause: isPause,
  }),
);

export const isFromBridge: Guard<FromBridge> = (value): value is FromBridge =>
  isRecord(value) && isText(value.type) && (fromBridge.get(value.type)?.(value) ?? false);
