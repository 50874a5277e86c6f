// In an edition from a store no code of the extension makes code of text: chrome.userScripts runs what an agent wrote.
import type { Code, Evaluated } from './evaluate.ts';
import type { Limits } from './plain.ts';

export function evaluate(_code: Code, _limits: Limits, done: (ended: Evaluated) => void): void {
  done({ problem: 'forbidden', message: 'This extension runs no text' });
}
