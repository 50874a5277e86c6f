// The field for the pairing text, in an extension that was not loaded from the relay's own folder.
import { useContext, useState } from 'preact/hooks';
import type { PanelState } from '../shared/panel-state.ts';
import { inWords } from './called.ts';
import { BoardContext, useCalled } from './hooks.ts';
import { visibleLine } from './words.ts';

export function Pairing({ pairing }: { pairing: PanelState['pairing'] }) {
  const board = useContext(BoardContext);
  const called = useCalled();
  const [text, setText] = useState('');
  const send = (event: Event) => {
    event.preventDefault();
    board.worker.pair(text.trim());
    setText('');
  };
  return (
    <form onSubmit={send}>
      <label>
        Installed from a store? Paste the pairing string that {inWords(called, 'pair')} prints
        <input
          autocomplete="off"
          spellcheck={false}
          required
          value={text}
          aria-describedby="pairing-said"
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={pairing.phase === 'trying'}>
        Pair
      </button>
      <p id="pairing-said" role={pairing.phase === 'failed' ? 'alert' : undefined}>
        {pairing.phase === 'trying' ? 'Pairing …' : visibleLine(pairing.message)}
      </p>
    </form>
  );
}
