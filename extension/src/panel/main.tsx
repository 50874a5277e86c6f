// The side panel: who acts, where, and what a person can do about it.
import { render } from 'preact';
import { App } from './app.tsx';
import { Board } from './board.ts';
import { BoardContext } from './hooks.ts';

const root = document.getElementById('panel');
if (root === null) throw new Error('panel.html has no #panel');
const board = new Board();
board.line.open();
// Chrome gives this one without a question, but in a click only: see permissions.md.
root.addEventListener('click', () => void chrome.permissions.request({ permissions: ['offscreen'] }), {
  once: true,
});
render(
  <BoardContext.Provider value={board}>
    <App />
  </BoardContext.Provider>,
  root,
);
