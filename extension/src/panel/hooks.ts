// Preact's side of the board: components that look at a path are drawn again when its answer changes.
import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useReducer, useState } from 'preact/hooks';
import type { Guard } from '../shared/guards.ts';
import type { PanelState } from '../shared/panel-state.ts';
import { Board } from './board.ts';
import type { Problem } from './line.ts';

export const BoardContext = createContext(new Board());

const useRedraw = (): (() => void) => {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  return useCallback(() => redraw(undefined), []);
};

/** The worker's state; undefined until it has spoken. */
export function useLink(): PanelState | undefined {
  const board = useContext(BoardContext);
  const redraw = useRedraw();
  const drawn = board.state;
  useEffect(() => {
    if (board.state !== drawn) redraw(); // it came between the drawing and now
    return board.watchState(redraw);
  }, [board, redraw]);
  return drawn;
}

/** What is known of a path's answer: value, why there is none, or neither while it is on its way. */
export interface Answer<T> {
  value: T | undefined;
  problem: Problem | undefined;
  reload(): void;
}

const misunderstood: Problem = {
  status: 0,
  message: 'This panel does not understand what the relay answered',
  hint: 'They may be of different versions. Close and open the panel; if that does not help, run “tabrelay doctor”.',
};

/** Shows the answer of a path below /api/v1/ and keeps it fresh. */
export function useAnswer<T>(path: string, guard: Guard<T>): Answer<T> {
  const board = useContext(BoardContext);
  const redraw = useRedraw();
  const drawn = board.known(path);
  useEffect(() => {
    if (board.known(path) !== drawn) redraw(); // as above
    return board.watch(path, redraw);
  }, [board, path, redraw]);
  const reload = () => board.reload(path);
  const { value, problem, loaded } = drawn;
  if (!loaded) return { value: undefined, problem, reload };
  if (!guard(value)) return { value: undefined, problem: misunderstood, reload };
  return { value, problem, reload };
}

/** Something a person does at the relay. */
export interface Act {
  busy: boolean;
  problem: Problem | undefined; // of the last time
  /** Resolves with whether it was done. */
  run(method: 'PUT' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<boolean>;
}

export function useAct(): Act {
  const board = useContext(BoardContext);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const run: Act['run'] = async (method, path, body) => {
    setBusy(true);
    setProblem(undefined);
    const reply = await board.act(method, path, body);
    setBusy(false);
    if (!reply.ok) setProblem(reply.problem);
    return reply.ok;
  };
  return { busy, problem, run };
}

/** The time now, drawn anew every second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
