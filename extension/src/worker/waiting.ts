// Waits until something is so in a tab, over as many of its pages as come meanwhile.
import { isNumber, isText } from '../page/guards.ts';
import { Ended, type Performer, text } from './conductor.ts';
import type { Documents } from './looking.ts';

const standardMs = 10_000;
const againMs = 200;

export function waitingIn(documents: Documents): Performer {
  return async (stage) => {
    const { timeoutMs, ...condition } = stage.args;
    const until = Date.now() + Math.min(isNumber(timeoutMs) ? timeoutMs : standardMs, stage.leftMs - 1000);
    const ref = [condition.ref, condition.gone].filter(isText).find((one) => /^(?:f\d+)?e\d+$/.test(one));
    for (;;) {
      try {
        const bridge = await documents.of(stage, ref);
        const ms = Math.max(100, until - Date.now());
        const seen = await stage.part(bridge, 'wait', { ...condition, timeoutMs: ms });
        return text(isText(seen) ? seen : 'it is so');
      } catch (why) {
        if (!(why instanceof Ended)) throw why;
        const left = ['DOCUMENT_CHANGED', 'FRAME_GONE', 'TAB_CHANGED'].includes(why.code);
        if (left && condition.gone !== undefined && ref !== undefined) return text(`${ref} is gone`);
        // Another page is coming: the condition may hold there.
        const coming = ['TAB_CHANGED', 'INJECTION_FAILED', 'ADAPTER_NOT_READY'].includes(why.code);
        if (!coming || ref !== undefined || Date.now() >= until || stage.signal.aborted) throw why;
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  };
}
