// How a person calls the program of tabrelay, for every text of the panel that names one of its commands. A relay says
// it at each connection. Not everybody has a command tabrelay: npx keeps the program to itself, an unpacked archive has
// a path, and a desktop bundle has no command at all.
import type { PanelState } from '../shared/panel-state.ts';

/** What the relay has told of the person's own command. */
export type Called = PanelState['paired']['command'];

const npx = 'npx tabrelay';

/** A command of the program as a line for a terminal; that of an installed one, where the relay has told nothing. */
export const lineOf = (called: Called, words: string): string =>
  `${called === undefined ? 'tabrelay' : called || npx} ${words}`;

/** What is added to a line, where it may not be the one that works. */
export function besides(called: Called, words: string): string {
  if (called === undefined)
    return `If there is no command tabrelay: “${npx} ${words}”, with Node 18 or newer.`;
  if (called !== '') return '';
  return (
    'That needs Node 18 or newer: tabrelay came as a desktop bundle, which has no command. It starts with the client ' +
    'that has it.'
  );
}

/** The same within a sentence. */
export const inWords = (called: Called, words: string): string =>
  called === undefined ? `“${lineOf(called, words)}” (or “${npx} ${words}”)` : `“${lineOf(called, words)}”`;
