// What a document is asked to do, and what it reports. The same shapes cross the worker's port and the port into
// the main world.
import {
  exactly,
  type Guard,
  isAnything,
  isFlag,
  isNumber,
  isRecord,
  isText,
  listOf,
  optional,
  shape,
} from './guards.ts';

/** One tool call as the document gets it. Times are what is left, not when. */
export interface CallOrder {
  id: string;
  correlationId?: string | undefined; // which people see, where id is a later attempt's own
  plugin: string;
  hash: string;
  tool: string;
  args: string; // JSON text, parsed where the tool runs
  settings: Record<string, unknown> | undefined;
  secret?: boolean | undefined; // the settings are not for a page that ran scripts before the adapter came
  main?: boolean | undefined; // the plugin's adapter is one of the main world
  anywhere?: boolean | undefined; // the worker has seen to it that the document is one for this call
  tabId: number;
  timeoutMs: number;
  maxTimeoutMs: number;
  progressExtends: boolean;
  maxResultBytes: number;
  maxBytes?: number | undefined; // up to which a result reaches the agent whole
  matches: string[];
  excludes: string[];
  trace?: boolean | undefined; // a thrown error names its place
  follow?: string | undefined; // somebody works on the plugin, whose file this is
  progressPattern?: string | undefined; // a regular expression: lines of the page's console that are progress
}

export const isCallOrder: Guard<CallOrder> = shape({
  id: isText,
  correlationId: optional(isText),
  plugin: isText,
  hash: isText,
  tool: isText,
  args: isText,
  settings: optional(isRecord),
  secret: optional(isFlag),
  main: optional(isFlag),
  anywhere: optional(isFlag),
  tabId: isNumber,
  timeoutMs: isNumber,
  maxTimeoutMs: isNumber,
  progressExtends: isFlag,
  maxResultBytes: isNumber,
  maxBytes: optional(isNumber),
  matches: listOf(isText),
  excludes: listOf(isText),
  trace: optional(isFlag),
  follow: optional(isText),
  progressPattern: optional(isText),
});

/** Whether the handler ran: not at all, to its end, or begun with no end seen. */
export type Outcome = 'not_executed' | 'executed' | 'unknown';

const refusalCodes = [
  'TAB_NOT_FOUND',
  'TAB_CHANGED',
  'TAB_CLOSED',
  'TAB_UNRESPONSIVE',
  'TAB_BUSY',
  'ADAPTER_NOT_READY',
  'INJECTION_FAILED',
  'OUTPUT_TOO_LARGE',
  'INVALID_OUTPUT',
  'TIMEOUT',
  'CANCELLED',
] as const;

export type RefusalCode = (typeof refusalCodes)[number];

const refusalReasons = ['fixed', 'idle', 'max_exceeded', 'not_ready', 'withheld'] as const;

type RefusalReason = (typeof refusalReasons)[number];

/** The extension or the page runtime ended the call, not the tool. */
export interface Refusal {
  code: RefusalCode;
  message: string;
  outcome: Outcome;
  reason?: RefusalReason | undefined;
  signIn?: string | undefined; // where a person signs in, when that may be missing
}

const isOutcome: Guard<Outcome> = exactly('not_executed', 'executed', 'unknown');

const isRefusal: Guard<Refusal> = shape({
  code: exactly(...refusalCodes),
  message: isText,
  outcome: isOutcome,
  reason: optional(exactly(...refusalReasons)),
  signIn: optional(isText),
});

/** How a call ended in its document. */
export type Ending =
  | { status: 'returned'; value: string } // JSON text
  | { status: 'threw'; error: Record<string, unknown> }
  | { status: 'refused'; started: boolean; refusal: Refusal };

const isReturned = shape({ status: exactly('returned'), value: isText });
const isThrew = shape({ status: exactly('threw'), error: isRecord });
const isRefused = shape({ status: exactly('refused'), started: isFlag, refusal: isRefusal });

export const isEnding: Guard<Ending> = (value): value is Ending =>
  isReturned(value) || isThrew(value) || isRefused(value);

/** A step a running tool reported. */
export interface Step {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

/** A line a running tool logged. */
export interface Line {
  level: 'debug' | 'info' | 'warning' | 'error';
  message: string;
  data?: unknown;
}

export const isStep: Guard<Step> = shape({
  progress: isNumber,
  total: optional(isNumber),
  message: optional(isText),
});
export const isLine: Guard<Line> = shape({
  level: exactly('debug', 'info', 'warning', 'error'),
  message: isText,
  data: isAnything,
});
