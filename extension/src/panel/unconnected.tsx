// What a person can do with one click about a missing connection.
import { useContext, useEffect, useRef } from 'preact/hooks';
import type { PanelState } from '../shared/panel-state.ts';
import { BoardContext } from './hooks.ts';
import { Pairing } from './pairing.tsx';
import { sentence, visibleLine } from './words.ts';

/** Shown after the person has unpaired this browser, with a button to pair it again. */
export function Unpaired({ state: { paired, pairing } }: { state: PanelState }) {
  const board = useContext(BoardContext);
  const again = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // The button that unpaired it had focus, and is gone.
    if (document.activeElement === document.body) again.current?.focus();
  }, []);
  return (
    <div class="trouble connection">
      <p>You unpaired this browser. Agents can do nothing in it.</p>
      {paired.byItself ? (
        <button type="button" ref={again} onClick={() => board.worker.paired(true)}>
          Pair again
        </button>
      ) : (
        <Pairing pairing={pairing} />
      )}
    </div>
  );
}

/** Shown when tabrelay is installed and its relay does not run. */
export function Startable({ program }: { program: PanelState['program'] }) {
  const board = useContext(BoardContext);
  return (
    <div class="trouble connection">
      {program.message === '' ? (
        <p>tabrelay is on this computer, and does not run. An agent that uses it starts it by itself.</p>
      ) : (
        <p role="alert">tabrelay did not start. {sentence(visibleLine(program.message))}</p>
      )}
      <button
        type="button"
        class="primary"
        aria-disabled={program.phase === 'starting'}
        onClick={() => program.phase === 'starting' || board.worker.start()}
      >
        {program.phase === 'starting' ? 'Starting …' : 'Start tabrelay'}
      </button>
    </div>
  );
}
