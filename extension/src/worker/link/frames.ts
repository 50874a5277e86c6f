// Encodes and decodes the frames of the connection to the relay. Frames of the relay are validated against the
// schemas of the protocol.

import type {
  FollowedFrame,
  FromExtension,
  FromRelay,
  LogFrame,
  OutcomeFrame,
  ProgressFrame,
  StartedFrame,
} from '../../protocol/frames.generated.ts';
import { fromRelay } from '../../protocol/from-relay.generated.js';
import type { Followed, Place } from '../../shared/bridge-messages.ts';
import { isRecord, isText } from '../../shared/guards.ts';
import type { Ending, Line, Step } from '../../shared/order.ts';

/** A frame of the relay by its type. */
export type FrameOf<T extends FromRelay['type']> = Extract<FromRelay, { type: T }>;

const guards = new Map<string, (value: unknown) => value is FromRelay>(Object.entries(fromRelay));

/**
 * Returns a frame's validated header, and the payload after the first line feed; undefined: it is invalid or unknown.
 */
export function readFrame(text: string): { frame: FromRelay; payload: string } | undefined {
  const end = text.indexOf('\n');
  let header: unknown;
  try {
    header = JSON.parse(end < 0 ? text : text.slice(0, end));
  } catch {
    return undefined;
  }
  if (!isRecord(header) || !isText(header.type)) return undefined;
  const guard = guards.get(header.type);
  if (!guard?.(header)) return undefined;
  return { frame: header, payload: end < 0 ? '' : text.slice(end + 1) };
}

/** Encodes a header, with the payload after it unchanged. */
export function frameText(header: FromExtension, payload?: string): string {
  return payload === undefined ? JSON.stringify(header) : `${JSON.stringify(header)}\n${payload}`;
}

// The frames that tell the relay about a running call.

const hiddenOf = ({ hidden }: { hidden: boolean }) => (hidden ? { hidden } : {});

export function startedFrame(
  id: string,
  documentId: string,
  told: { origin: string; hidden: boolean },
): StartedFrame {
  return { type: 'started', id, documentId, origin: told.origin, ...hiddenOf(told) };
}

export function progressFrame(id: string, told: { step: Step; hidden: boolean }): ProgressFrame {
  const { progress, total, message } = told.step;
  return {
    type: 'progress',
    id,
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message }),
    ...hiddenOf(told),
  };
}

export function logFrame(id: string, { level, message, data }: Line): LogFrame {
  if (data === undefined) return { type: 'log', id, level, message };
  return { type: 'log', id, level, message, data: isRecord(data) ? data : { value: data } };
}

const callId = /^[0-9a-f]{32}$/;
const mostPlaces = 20;
const mostCharacters = 4000;

/** Undefined: the page has forged it. The relay would close the connection over an invalid frame. */
export function followedFrame(said: Followed): FollowedFrame | undefined {
  const { type, id, plugin, kind } = said;
  if (!callId.test(id)) return undefined;
  const text = said.text.slice(0, mostCharacters);
  const frame: FollowedFrame = { type, id, plugin, tool: said.tool.slice(0, 200), kind, text };
  const short = ({ length }: string) => length <= 500;
  if (said.places !== undefined) frame.places = said.places.filter(short).slice(0, mostPlaces);
  if (said.afterMs !== undefined) frame.afterMs = Math.max(0, Math.round(said.afterMs));
  return frame;
}

/** Encodes an outcome, with the value as the page encoded it. */
export function outcomeText(
  id: string,
  ending: Ending,
  place: Place,
  epoch: string,
  times?: OutcomeFrame['times'],
): string {
  const { origin, frame, trust, consoleTail, durationMs } = place;
  const about = {
    ...(origin !== '' && { origin }),
    ...(frame !== undefined && { frame }),
    ...(trust !== undefined && { trust }),
    ...(consoleTail !== undefined && { consoleTail }),
    durationMs: Math.max(0, Math.round(durationMs)),
    epoch,
    ...(times !== undefined && { times }),
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

// Frames that an open connection dispatches to handlers. Those of the handshake, ping and pong are handled in the
// link.

type Routed = Exclude<
  FromRelay['type'],
  'relay' | 'proof' | 'paired' | 'refuse' | 'welcome' | 'ping' | 'pong'
>;

export type Routes = { [T in Routed]: (frame: FrameOf<T>, payload: string) => void };

/** Dispatches each frame to the handler of its type. */
export function router(routes: Routes): (frame: FromRelay, payload: string) => void {
  return (frame, payload) => {
    switch (frame.type) {
      case 'call':
        return routes.call(frame, payload);
      case 'cancel':
        return routes.cancel(frame, payload);
      case 'ack':
        return routes.ack(frame, payload);
      case 'ask':
        return routes.ask(frame, payload);
      case 'plugins':
        return routes.plugins(frame, payload);
      case 'command':
        return routes.command(frame, payload);
      case 'response':
        return routes.response(frame, payload);
      case 'news':
        return routes.news(frame, payload);
    }
  };
}
