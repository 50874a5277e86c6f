// The order that a document gets for a call, and what it reports. The same shapes cross the worker's port and the
// port into the main world.
import type { CallFrame } from '../protocol/frames.generated.ts';
import {
  either,
  exactly,
  type Guard,
  type Guarded,
  isAnything,
  isFlag,
  isNumber,
  isRecord,
  isText,
  listOf,
  optional,
  shape,
} from './guards.ts';

/** The members of the call frame that a document gets unchanged. */
const asked = {
  id: isText,
  correlationId: optional(isText), // which people see, where id is a later attempt's own
  plugin: isText,
  hash: isText,
  tool: isText,
  tabId: isNumber,
  timeoutMs: isNumber,
  maxTimeoutMs: isNumber,
  progressExtends: isFlag,
  maxResultBytes: isNumber,
  maxBytes: optional(isNumber), // up to which a result reaches the agent whole
  secret: optional(isFlag), // the settings must not be given to a page that ran scripts before the adapter
  trace: optional(isFlag), // a thrown error names its place
  timed: optional(isFlag), // the outcome says when the handler started and ended
  progressPattern: optional(isText), // a regular expression: lines of the page's console that are progress
} satisfies { [Field in keyof CallFrame]?: Guard<CallFrame[Field]> };

/** One tool call as the document gets it. Times are what is left. */
export const isCallOrder = shape({
  ...asked,
  args: isText, // JSON text, parsed where the tool runs
  settings: optional(isRecord),
  main: optional(isFlag), // the plugin's adapter is one of the main world
  anywhere: optional(isFlag), // the worker has checked the document: its address need not match
  matches: listOf(isText),
  excludes: listOf(isText),
  follow: optional(isText), // the plugin's file, where its author follows the calls
});
export type CallOrder = Guarded<typeof isCallOrder>;

/** Whether the handler ran: not at all, to its end, or it is unknown. */
const isOutcome = exactly('not_executed', 'executed', 'unknown');
export type Outcome = Guarded<typeof isOutcome>;

const isRefusalCode = exactly(
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
);
export type RefusalCode = Guarded<typeof isRefusalCode>;

/** The extension or the page runtime ended the call, not the tool. */
const isRefusal = shape({
  code: isRefusalCode,
  message: isText,
  outcome: isOutcome,
  reason: optional(exactly('fixed', 'idle', 'max_exceeded', 'not_ready', 'withheld')),
  signIn: optional(isText), // where a person signs in, when that may be missing
});
export type Refusal = Guarded<typeof isRefusal>;

/** How a call ended in its document. */
export const isEnding = either(
  shape({ status: exactly('returned'), value: isText }), // JSON text
  shape({ status: exactly('threw'), error: isRecord }),
  shape({ status: exactly('refused'), started: isFlag, refusal: isRefusal }),
);
export type Ending = Guarded<typeof isEnding>;

/** A step a running tool reported. */
export const isStep = shape({
  progress: isNumber,
  total: optional(isNumber),
  message: optional(isText),
});
export type Step = Guarded<typeof isStep>;

/** A line a running tool logged. */
export const isLine = shape({
  level: exactly('debug', 'info', 'warning', 'error'),
  message: isText,
  data: isAnything,
});
export type Line = Guarded<typeof isLine>;
