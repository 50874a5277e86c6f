// The frames that tell the relay about a running call.
import type { Place } from '../bridge/messages.ts';
import { isRecord } from '../page/guards.ts';
import type { Ending, Line, Step } from '../page/order.ts';
import type { LogFrame, OutcomeFrame, ProgressFrame } from '../protocol/frames.generated.ts';
import { frameText } from './frames.ts';

export function progressFrame(id: string, { progress, total, message }: Step): ProgressFrame {
  return {
    type: 'progress',
    id,
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message }),
  };
}

export function logFrame(id: string, { level, message, data }: Line): LogFrame {
  if (data === undefined) return { type: 'log', id, level, message };
  return { type: 'log', id, level, message, data: isRecord(data) ? data : { value: data } };
}

/** An outcome as a frame: the header, and the value as the page encoded it. */
export function outcomeText(id: string, ending: Ending, place: Place, epoch: string): string {
  const { origin, frame, trust, consoleTail, durationMs } = place;
  const about = {
    ...(origin !== '' && { origin }),
    ...(frame !== undefined && { frame }),
    ...(trust !== undefined && { trust }),
    ...(consoleTail !== undefined && { consoleTail }),
    durationMs: Math.max(0, Math.round(durationMs)),
    epoch,
  };
  const header = (rest: Pick<OutcomeFrame, 'status' | 'started' | 'error' | 'refusal'>): OutcomeFrame => ({
    type: 'outcome',
    id,
    ...rest,
    ...about,
  });
  switch (ending.status) {
    case 'returned':
      return frameText(header({ status: 'returned', started: true }), ending.value);
    case 'threw':
      return frameText(header({ status: 'threw', started: true, error: ending.error }));
    case 'refused': {
      const { code, message, outcome, reason, signIn } = ending.refusal;
      const refusal = {
        code,
        message,
        outcome,
        ...(reason !== undefined && { reason }),
        ...(signIn !== undefined && { signIn }),
      };
      return frameText(header({ status: 'refused', started: ending.started, refusal }));
    }
  }
}
