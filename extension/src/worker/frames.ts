// The border to the relay: frames as text, checked against the protocol's schemas before anyone sees them.
import { isRecord, isText } from '../page/guards.ts';
import type { FromExtension, FromRelay } from '../protocol/frames.generated.ts';
import { fromRelay } from '../protocol/from-relay.generated.js';

/** A frame of the relay by its type. */
export type FrameOf<T extends FromRelay['type']> = Extract<FromRelay, { type: T }>;

const guards = new Map<string, (value: unknown) => value is FromRelay>(Object.entries(fromRelay));

/** Splits a frame into its header, checked, and the payload after the first line feed. */
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

/** A frame as text: the header, and the payload as it is. */
export function frameText(header: FromExtension, payload?: string): string {
  return payload === undefined ? JSON.stringify(header) : `${JSON.stringify(header)}\n${payload}`;
}
