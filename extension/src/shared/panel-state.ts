// The worker's state as the panel gets it.
import { exactly, type Guard, isFlag, isNumber, isText, optional, shape } from './guards.ts';

export interface PanelState {
  link: {
    phase: 'unpaired' | 'connecting' | 'connected' | 'waiting' | 'stopped';
    address: string;
    message: string;
    since: number;
  };
  bundle: string;
  profile: { id: string; label: string }; // both empty until they are read
  marks: boolean; // tabs show when an agent acts in them
  paired: {
    since: number; // 0: never
    ended: boolean; // by the person
    byItself: boolean; // nothing has to be pasted
    command?: string | undefined; // what the person types to call the relay's program; empty: they have no command
  };
  /** What this machine's program said to the extension; unknown: it may not ask, or has not. */
  program: { phase: 'unknown' | 'absent' | 'found' | 'starting' | 'failed'; message: string };
  pairing: { phase: 'none' | 'trying' | 'failed' | 'done'; message: string }; // of a string that was pasted
}

export const isPanelState: Guard<PanelState> = shape({
  link: shape({
    phase: exactly('unpaired', 'connecting', 'connected', 'waiting', 'stopped'),
    address: isText,
    message: isText,
    since: isNumber,
  }),
  bundle: isText,
  profile: shape({ id: isText, label: isText }),
  marks: isFlag,
  paired: shape({ since: isNumber, ended: isFlag, byItself: isFlag, command: optional(isText) }),
  program: shape({ phase: exactly('unknown', 'absent', 'found', 'starting', 'failed'), message: isText }),
  pairing: shape({ phase: exactly('none', 'trying', 'failed', 'done'), message: isText }),
});
