// Serves a fresh WordPress until it is interrupted: for trying things by hand, and for recording the adapter's tapes.
//   npx tsx e2e/sites/serve-blog.ts

import { Closing } from '../stage/closing.ts';
import { blogPassword, openBlog } from './wordpress.ts';

const closing = new Closing();
const blog = await openBlog(closing);
console.log(`${blog.url} (Alice administrates, Bob writes, Eve reads; password "${blogPassword}")`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void closing.close());
