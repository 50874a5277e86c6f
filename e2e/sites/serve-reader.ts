// Serves a fresh Tiny Tiny RSS until it is interrupted: for trying things by hand, and for recording the adapter's
// tapes.
//   npx tsx e2e/sites/serve-reader.ts

import { Closing } from '../stage/closing.ts';
import { openReader, readerPassword } from './tt-rss.ts';

const closing = new Closing();
const reader = await openReader(['ann', 'ben'], closing);
const daily = reader.news.feed('Daily', [
  { title: 'Tea & biscuits', html: '<p>Both are <b>good</b>.</p>', author: 'Ada', tags: ['food'] },
  { title: 'Rain', html: '<p>It rains.</p><script>alert(1)</script>' },
]);
console.log(`${reader.url} (ann and ben read; password "${readerPassword}"; a feed to read is ${daily})`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void closing.close());
