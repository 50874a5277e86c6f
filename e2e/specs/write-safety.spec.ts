// The heart of the product: whatever breaks, no write happens twice, and what an agent is told about a write is true.
// A write leaves a mark in the page and one at the server; both are compared with what the client was told.
//
// TABRELAY_SOAK=20000 makes that many writes, TABRELAY_SEED=7 other chances.

import { Chance } from '../stage/chance.ts';
import { expect, test } from '../stage/test.ts';
import { type Fault, TroubledStage } from '../stage/trouble.ts';
import { type Account, dials, Writer } from '../stage/writer.ts';

const writes = Number(process.env.TABRELAY_SOAK ?? 500);
const seed = Number(process.env.TABRELAY_SEED ?? 1);
const inFlight = 3; // of each client
const faults: Fault[] = [
  'worker stopped',
  'socket cut',
  'tab closed',
  'relay killed',
  'tab reloaded',
  'socket cut',
  'relay ended',
  'worker stopped',
  'tab reloaded',
  'socket cut',
  'tab closed',
  'worker stopped',
];

test(`${writes} writes under random faults: none happens twice, every outcome is true`, async ({
  closing,
}) => {
  test.setTimeout(60_000 + writes * 200);
  const troubled = await TroubledStage.open(closing);
  const { relay, site, browser } = troubled.stage;
  const writers = Object.entries(await dials(relay)).map(([name, dial]) => ({
    name,
    writer: new Writer(dial),
  }));
  for (const { writer } of writers) closing.defer(() => writer.close());

  const chance = new Chance(seed);
  const accounts: Account[] = [];
  const caused: Fault[] = [];
  let next = 0;
  const write = async (name: string, writer: Writer) => {
    while (next < writes || caused.length < faults.length) {
      const token = `${name}-${next++}`;
      const cancelAfter = chance.next() < 0.08 ? chance.between(0, 40) : undefined;
      const account = await writer.write(token, chance.between(0, 60), cancelAfter);
      accounts.push(account);
      // An agent that was told to wait does not hammer.
      if (account.told !== 'executed') await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  const working = Promise.all(
    writers.flatMap(({ name, writer }) => Array.from({ length: inFlight }, () => write(name, writer))),
  );
  let done = false;
  working.then(
    () => (done = true),
    () => (done = true),
  );
  const began = performance.now();
  while (!done) {
    await new Promise((resolve) => setTimeout(resolve, chance.between(50, 800)));
    const fault = faults[caused.length % faults.length];
    if (done || fault === undefined) break;
    await troubled.cause(fault);
    caused.push(fault);
  }
  await working;

  const inPage = new Map<string, number>();
  const executed = accounts.filter(({ told }) => told === 'executed');
  // What one tab wrote reaches another one a moment later.
  const missing = async () => {
    const here = await browser
      .pages()
      .at(-1)
      ?.evaluate(() => Object.entries(localStorage));
    for (const [key, count] of here ?? []) inPage.set(key.slice('write:'.length), Number(count));
    return executed.filter(({ token }) => !inPage.has(token));
  };
  await expect.poll(missing, { message: 'every write that was done is in the page' }).toEqual([]);
  const atServer = site.counts();
  const marks = accounts.map((account) => ({
    ...account,
    inPage: inPage.get(account.token) ?? 0,
    atServer: atServer.get(account.token) ?? 0,
  }));
  const lies = marks.filter(({ told, inPage, atServer }) => {
    if (told === 'executed') return inPage !== 1 || atServer !== 1;
    if (told === 'not_executed') return inPage !== 0 || atServer !== 0;
    return inPage > 1 || atServer > 1;
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`seed ${seed}: ${next} writes in ${seconds} s, ${caused.length} faults`, tally(marks));
  expect(lies).toEqual([]);
  expect(marks).toHaveLength(next);
  expect(executed.length).toBeGreaterThan(next / 2);
});

/** How many writes ended in each way. */
function tally(marks: readonly { told: string; because: string; ms: number }[]): Record<string, string> {
  const ends = new Map<string, number[]>();
  for (const { told, because, ms } of marks) {
    const end = told === because || because === 'answered' ? told : `${told}: ${because}`;
    ends.set(end, [...(ends.get(end) ?? []), ms]);
  }
  return Object.fromEntries(
    [...ends].map(([end, times]) => [end, `${times.length} (slowest ${Math.max(...times).toFixed(0)} ms)`]),
  );
}
