// Hooks for the board: a component that uses the answer of a path renders again when it changes.
import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useReducer, useState } from 'preact/hooks';
import type { Guard } from '../shared/guards.ts';
import type { PanelState } from '../shared/panel-state.ts';
import { Board } from './board.ts';
import { type Called, inWords } from './called.ts';
import type { Problem } from './workerport.ts';

export const BoardContext = createContext(new Board());

const useRedraw = (): (() => void) => {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  return useCallback(() => redraw(undefined), []);
};

/** The worker's state; undefined until its first message. */
export function useLink(): PanelState | undefined {
  const board = useContext(BoardContext);
  const redraw = useRedraw();
  const drawn = board.state;
  useEffect(() => {
    if (board.state !== drawn) redraw(); // it changed after rendering, before this effect
    return board.watchState(redraw);
  }, [board, redraw]);
  return drawn;
}

/** How the person calls the program of the relay. */
export const useCalled = (): Called => useLink()?.paired.command;

/** The answer of a path: its value, the problem of the last attempt, or neither while it is fetched. */
export interface Answer<T> {
  value: T | undefined;
  problem: Problem | undefined;
  reload(): void;
}

const misunderstood = (state: PanelState | undefined): Problem => ({
  status: 0,
  message: 'This panel does not understand what the relay answered',
  hint:
    'They may be of different versions. Close and open the panel; if that does not help, run ' +
    `${inWords(state?.paired.command, 'doctor')}.`,
});

/** Returns the answer of a path below /api/v1/, kept fresh. */
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
  if (!guard(value)) return { value: undefined, problem: misunderstood(board.state), reload };
  return { value, problem, reload };
}

/** The state of requests that change something at the relay. */
export interface Act {
  busy: boolean;
  problem: Problem | undefined; // of the last time
  /** Resolves to whether the relay accepted it. */
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

/** The current time; renders the component again every second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
