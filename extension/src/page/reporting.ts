// What a tool says while it runs: progress and log lines, bounded so that a busy loop cannot flood the agent.
import { isRecord } from '../shared/guards.ts';
import type { Ending, Line, Step } from '../shared/order.ts';
import {
  dropTimer,
  encodeJson,
  isA,
  isFiniteNumber,
  later,
  min,
  now,
  parseJson,
  stringOf,
} from '../shared/primordials.ts';
import { cut, describe, legible } from './serialise.ts';

const ErrorCtor = Error;

/** Who listens to a run. */
export interface Observer {
  waiting(): void; // the adapter is asked whether it is ready
  started(): void; // the handler runs from here on
  progress(step: Step): void;
  log(line: Line): void;
  ended(ending: Ending): void;
  late(ending: Ending): void; // the handler's own end, after the call had ended without it
}

// Up to ten steps go out at once, then ten a second; in between the latest is kept. The relay does the same.
const burst = 10;
const stepGapMs = 100;
const maxLines = 200;
const lineBytes = 4096;

function textOf(value: unknown): string | undefined {
  try {
    return value === undefined || value === null ? undefined : cut(stringOf(value), lineBytes);
  } catch {
    return '[unprintable]'; // what a tool says of its work never makes it fail
  }
}

function readStep(report: unknown, previous: number): Step {
  const from = isRecord(report) ? report : {};
  const given = from.progress;
  const step: Step = { progress: typeof given === 'number' && isFiniteNumber(given) ? given : previous + 1 };
  const total = typeof from.total === 'number' && isFiniteNumber(from.total) ? from.total : undefined;
  const message = textOf(from.message);
  return { ...step, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
}

function readData(data: unknown): unknown {
  if (data === undefined) return undefined;
  try {
    const text = encodeJson(data, (_, part) => (isA(part, ErrorCtor) ? describe(part) : part));
    if (text === undefined) return undefined;
    // Parsed again: only plain data can cross the ports.
    return text.length <= lineBytes ? parseJson(text) : cut(text, lineBytes);
  } catch {
    return cut(legible(data), lineBytes);
  }
}

export interface Reports {
  progress: (report: unknown) => void;
  log: Record<'debug' | 'info' | 'warn' | 'error', (message: unknown, data?: unknown) => void>;
  flush(): void; // sends the last step that was held back
}

/** The progress and log functions of one call. They do nothing once the call is no longer open. */
export function reporting(observer: Observer, on: { open(): boolean; onProgress(): void }): Reports {
  let lines = 0;
  let allowance = burst; // steps that may go out at once, at the time below
  let countedAt = now();
  let latest = 0;
  let held: Step | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush(): void {
    if (timer !== undefined) dropTimer(timer);
    timer = undefined;
    if (held === undefined || !on.open()) return;
    observer.progress(held);
    held = undefined;
    allowance--;
  }

  /** How long the next step has to wait. */
  function wait(): number {
    const time = now();
    allowance = min(burst, allowance + (time - countedAt) / stepGapMs);
    countedAt = time;
    return (1 - allowance) * stepGapMs;
  }

  const log = (level: Line['level']) => (message: unknown, data?: unknown) => {
    if (!on.open() || lines > maxLines) return;
    lines++;
    if (lines > maxLines) {
      const message = `Only the first ${maxLines} log lines of a call are kept`;
      observer.log({ level: 'warning', message, data: undefined });
      return;
    }
    observer.log({ level, message: textOf(message) ?? '', data: readData(data) });
  };

  return {
    progress(report) {
      if (!on.open()) return;
      on.onProgress();
      held = readStep(report, latest);
      latest = held.progress;
      const pause = wait();
      if (pause <= 0) flush();
      else if (timer === undefined) timer = later(flush, pause);
    },
    log: { debug: log('debug'), info: log('info'), warn: log('warning'), error: log('error') },
    flush,
  };
}
