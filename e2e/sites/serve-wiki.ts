// Serves a fresh wiki until it is interrupted: for trying things by hand, and for recording the adapter's tapes.
//   npx tsx e2e/sites/serve-wiki.ts

import { Closing } from '../stage/closing.ts';
import { openWiki } from './mediawiki.ts';

const closing = new Closing();
const wiki = await openWiki(closing);
for (const name of ['Alice', 'Bob']) await wiki.addUser(name, 'correct horse battery');
await wiki.save('Red fox', "The '''red fox''' is a fox.\n\n== Diet ==\n* Mice\n* Berries", 'Bob');
console.log(`${wiki.url} (Alice and Bob, password "correct horse battery")`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void closing.close());
