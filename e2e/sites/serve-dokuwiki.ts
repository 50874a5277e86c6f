// Serves a fresh DokuWiki until it is interrupted: for trying things by hand, and for recording the adapter's tapes.
//   npx tsx e2e/sites/serve-dokuwiki.ts

import { Closing } from '../stage/closing.ts';
import { openTeamWiki, wikiPassword } from './dokuwiki.ts';

const closing = new Closing();
const wiki = await openTeamWiki(closing);
const bob = await wiki.as('bob');
await bob.save('start', '====== Welcome ======\n\nSee [[animals:fox]] and [[wiki:none]].', 'begun');
await bob.save(
  'animals:fox',
  '====== Red fox ======\n\nA fox.\n\n===== Diet =====\n\n  * Mice\n  * Berries',
  'begun',
);
await bob.save(
  'animals:fox',
  '====== Red fox ======\n\nA red fox.\n\n===== Diet =====\n\n  * Mice\n  * Berries',
  'red',
);
await (await wiki.as('root')).save('rules:house', 'Be kind.');
await wiki.index();
console.log(`${wiki.url} (alice and bob edit, root administrates; password "${wikiPassword}")`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void closing.close());
