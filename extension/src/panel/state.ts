// What the worker tells the panel.
import { exactly, type Guard, isFlag, isNumber, isText, listOf, optional, shape } from '../page/guards.ts';

export interface CallEntry {
  id: string;
  plugin: string;
  tool: string;
  tabId: number;
  at: number;
  durationMs: number | undefined;
  outcome: string; // "running", "returned", or the code of its error
  error: string | undefined; // as the agent sees it
}

export interface PanelState {
  link: {
    phase: 'unpaired' | 'connecting' | 'connected' | 'waiting' | 'stopped';
    address: string;
    message: string;
    since: number;
  };
  calls: readonly CallEntry[];
  bundle: string;
  profile: { id: string; label: string }; // both empty until they are read
  marks: boolean; // tabs show when an agent acts in them
  pairing: { phase: 'none' | 'trying' | 'failed' | 'done'; message: string }; // of a string that was pasted
}

export const isCallEntry: Guard<CallEntry> = shape({
  id: isText,
  plugin: isText,
  tool: isText,
  tabId: isNumber,
  at: isNumber,
  durationMs: optional(isNumber),
  outcome: isText,
  error: optional(isText),
});

export const isPanelState: Guard<PanelState> = shape({
  link: shape({
    phase: exactly('unpaired', 'connecting', 'connected', 'waiting', 'stopped'),
    address: isText,
    message: isText,
    since: isNumber,
  }),
  calls: listOf(isCallEntry),
  bundle: isText,
  profile: shape({ id: isText, label: isText }),
  marks: isFlag,
  pairing: shape({ phase: exactly('none', 'trying', 'failed', 'done'), message: isText }),
});
