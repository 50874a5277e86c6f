// Serves fresh webmail until it is interrupted: for trying things by hand, and for recording the adapter's tapes.
//   npx tsx e2e/sites/serve-mail.ts

import { Closing } from '../stage/closing.ts';
import { mailPassword, openMail } from './roundcube.ts';

const closing = new Closing();
const mail = await openMail(['ann', 'ben'], closing);
await mail.deliver(
  'ann',
  'From: Ben <ben@example.org>\nTo: ann@example.org\nSubject: Lunch\nMessage-ID: <1@example.org>\n\nAt noon?\n',
);
console.log(`${mail.url} (ann and ben, password "${mailPassword}")`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void closing.close());
