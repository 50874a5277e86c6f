// A part of the panel, drawn without a browser, with the relay's answers by path. What has none is not there (404).
import { Window } from 'happy-dom';
import { type ComponentChild, render } from 'preact';
import { Board } from '../src/panel/board.ts';
import { BoardContext } from '../src/panel/hooks.ts';
import { isPanelRequest } from '../src/shared/panel-messages.ts';
import type { PanelState } from '../src/shared/panel-state.ts';

const window = new Window();
const { document, location, MutationObserver } = window;
Object.assign(globalThis, {
  document,
  window,
  location,
  MutationObserver,
  addEventListener: () => {},
  removeEventListener: () => {},
});

const usual: PanelState = {
  link: { phase: 'connected', address: '127.0.0.1:9333', message: '', since: 0 },
  bundle: '',
  profile: { id: 'p1', label: '' },
  marks: true,
  paired: { since: 0, ended: false, byItself: true },
  program: { phase: 'unknown', message: '' },
  pairing: { phase: 'none', message: '' },
};
const missing = { error: { message: 'There is nothing', hint: '' } };

export function inPanel(
  content: ComponentChild,
  answers: Record<string, unknown>,
  told: Partial<PanelState> = {},
) {
  const state = { ...usual, ...told };
  let hear: (message: unknown) => void = () => {};
  const done: string[] = [];
  const port = {
    onMessage: {
      addListener: (listener: typeof hear) => {
        hear = listener;
      },
    },
    onDisconnect: { addListener: () => {} },
    postMessage(message: unknown) {
      if (!isPanelRequest(message)) return;
      const { id, method, path } = message;
      if (method !== 'GET') done.push(`${method} ${path}`);
      const answer = method === 'GET' ? answers[path.replace('/api/v1/', '')] : {};
      const [status, body] = answer === undefined ? [404, missing] : [200, answer];
      queueMicrotask(() => hear({ type: 'response', id, status, body }));
    },
  };
  const listeners = { addListener: () => {}, removeListener: () => {} };
  Object.assign(globalThis, {
    chrome: {
      runtime: { connect: () => port },
      storage: { local: { get: async () => ({}), onChanged: listeners } },
      permissions: { contains: async () => true, onAdded: listeners, onRemoved: listeners },
    },
  });
  const board = new Board();
  board.worker.open();
  hear(state);
  const root = document.createElement('div');
  document.body.append(root);
  render(<BoardContext.Provider value={board}>{content}</BoardContext.Provider>, root);
  /** Resolves once the panel shows a text, or shows it no more. */
  const shows = async (text: string, shown = true) => {
    while (root.textContent?.includes(text) !== shown) await new Promise((resolve) => setImmediate(resolve));
  };
  /** The relay ends, and another one comes, with other answers. */
  const restart = (others: Record<string, unknown>) => {
    hear({ ...state, link: { ...state.link, phase: 'connecting' } });
    answers = others;
    hear(state);
  };
  return { root, done, shows, restart, end: () => render(null, root) };
}
