// Waits until something is so in a tab, over as many of its pages as come meanwhile.

import { isNumber, isText } from '../../shared/guards.ts';
import type { Documents } from '../../worker/calls/documents.ts';
import { Ended, type ToolHandler, type ToolRun, text } from '../../worker/calls/tool-runner.ts';
import { elapsedMs } from '../../worker/util/clock.ts';
import { sayClosed, sayUnseen } from './looking.ts';

const standardMs = 10_000;
const againMs = 200;
const leastMs = 100;
const roundMs = 400; // then frames that came meanwhile are asked, too: there may be none at first

export function waitingIn(
  documents: Documents,
): (run: ToolRun, args?: Record<string, unknown>) => ReturnType<ToolHandler> {
  return async (run, args = run.args) => {
    const { timeoutMs, ...condition } = args;
    const began = elapsedMs();
    const until = began + Math.min(isNumber(timeoutMs) ? timeoutMs : standardMs, run.leftMs - 1000);
    const ref = [condition.ref, condition.gone].filter(isText).find((one) => /^(?:f\d+)?e\d+$/.test(one));
    let leftOut: string[] = [];
    for (;;) {
      try {
        const words = ref === undefined && (isText(condition.text) || isText(condition.gone));
        const {
          bridges: all,
          closed,
          unseen,
        } = words
          ? await documents.all(run)
          : { bridges: [await documents.of(run, ref)], closed: [], unseen: 0 };
        leftOut = sayClosed(closed);
        const left = Math.max(leastMs, until - elapsedMs());
        const ms = words ? Math.min(left, roundMs) : left;
        const _ = { waitedMs: elapsedMs() + ms - began, news: all.length === 1 };
        const asked = all.map((one) => run.part(one, 'wait', { ...condition, timeoutMs: ms, _ }));
        // A text is there in one of the documents, or gone from all.
        const seen = await (isText(condition.gone) ? everyOne(asked) : firstOf(asked));
        const more = isText(condition.gone) ? [...sayUnseen(unseen), ...leftOut] : [];
        return text([isText(seen) ? seen : 'it is so', ...more].join('\n'));
      } catch (why) {
        if (!(why instanceof Ended)) throw why;
        if (why.code === 'WAIT_TIMEOUT' && elapsedMs() < until && !run.signal.aborted) continue;
        const left = ['DOCUMENT_CHANGED', 'FRAME_GONE', 'TAB_CHANGED'].includes(why.code);
        if (left && condition.gone !== undefined && ref !== undefined) return text(`${ref} is gone`);
        // Another page is coming: the condition may hold there.
        const coming = ['TAB_CHANGED', 'INJECTION_FAILED', 'ADAPTER_NOT_READY'].includes(why.code);
        if (!coming || ref !== undefined || elapsedMs() >= until || run.signal.aborted)
          throw tellLeftOut(why, leftOut);
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  };
}

// What was waited for may be where nobody may look.
function tellLeftOut(why: Ended, leftOut: readonly string[]): Ended {
  if (why.code !== 'WAIT_TIMEOUT' || why.ending.status !== 'threw' || leftOut.length === 0) return why;
  const { error } = why.ending;
  return new Ended({
    ...why.ending,
    error: { ...error, message: `${error.message}; ${leftOut.join('; ')}` },
  });
}

// The page's own document is the first. What another one says only counts where it says that it is so.
async function firstOf(asked: readonly Promise<unknown>[]): Promise<unknown> {
  try {
    return await Promise.any(asked);
  } catch {
    return asked[0];
  }
}

// A frame that goes away has the text no more.
async function everyOne(asked: readonly Promise<unknown>[]): Promise<unknown> {
  const ended = await Promise.allSettled(asked);
  for (const one of ended.slice(1))
    if (one.status === 'rejected' && one.reason instanceof Ended && one.reason.code === 'WAIT_TIMEOUT')
      throw one.reason;
  return asked[0];
}
