// The entry point of the side panel.
import { render } from 'preact';
import { App } from './app.tsx';
import { Board } from './board.ts';
import { BoardContext } from './hooks.ts';
import { askSilently } from './permissions.ts';

const root = document.getElementById('panel');
if (root === null) throw new Error('panel.html has no #panel');
const board = new Board();
board.worker.open();
root.addEventListener('click', () => void askSilently('offscreen'), { once: true });
render(
  <BoardContext.Provider value={board}>
    <App />
  </BoardContext.Provider>,
  root,
);
