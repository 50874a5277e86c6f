// How long calls wait when a page, the worker or the person is slow, on a quiet machine and beside BUSY busy
// processes (0). Not a test: nothing fails on a clock. The time limits the product ships with were chosen by these
// figures.

import { spawn } from 'node:child_process';
import type { Agent } from '../stage/agent.ts';
import { stopWorker } from '../stage/browser.ts';
import { Closing } from '../stage/closing.ts';
import { openStage, type Stage, visit } from '../stage/test.ts';

const busy = Number(process.env.BUSY ?? 0);
const rounds = Number(process.env.ROUNDS ?? 20);

/** How long something takes, in milliseconds, `rounds` times, after what is prepared for each. */
async function measure(
  what: string,
  prepare: (round: number) => Promise<unknown>,
  act: (round: number) => Promise<unknown>,
): Promise<void> {
  const took: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await prepare(round);
    const began = performance.now();
    await act(round);
    took.push(performance.now() - began);
  }
  took.sort((a, b) => a - b);
  const at = (share: number) =>
    `${(took[Math.floor(took.length * share)] ?? Number.NaN).toFixed(0)} ms`.padStart(9);
  console.log(`${what.padEnd(50)}${at(0.5)}${at(0.9)}${`${took.at(-1)?.toFixed(0)} ms`.padStart(9)}`);
}

const nothing = async (): Promise<void> => {};

async function answered(agent: Agent, name: string, args: Record<string, unknown> = {}): Promise<void> {
  const answer = await agent.call(name, args);
  if (answer.failed) throw new Error(answer.text);
}

async function measureAll(stage: Stage): Promise<void> {
  const { agent, browser, demo, page } = stage;
  console.log(`${`WAITS, beside ${busy} busy processes`.padEnd(50)}      p50      p90  slowest`);
  await measure('a call in a page that is open', nothing, () => answered(agent, 'demo__hello'));
  await measure(
    'a call in a page that was just opened',
    (round) => visit(stage, `${demo.url}/pages/tea?${round}`),
    () => answered(agent, 'demo__hello'),
  );
  await measure(
    'a call after the worker was stopped',
    () => stopWorker(browser),
    () => answered(agent, 'demo__hello'),
  );
  let cancel = new AbortController();
  await measure(
    'from a cancel to the page',
    async (round) => {
      cancel = new AbortController();
      const note = `cancel ${round}`;
      agent.call('trouble__slow', { ms: 30_000, steps: 0, note }, { signal: cancel.signal }).catch(nothing);
      await demo.notes(note, 1);
    },
    async (round) => {
      cancel.abort('measured');
      await demo.notes(`cancel ${round}`, 2);
    },
  );
  await measure('from a call to its first progress', nothing, async () => {
    const stop = new AbortController();
    const onprogress = () => stop.abort('measured');
    await agent
      .call('trouble__slow', { ms: 1000, steps: 100 }, { signal: stop.signal, onprogress })
      .catch(nothing);
  });
  let dialog = nothing;
  await measure(
    'to be told that the page shows a dialog',
    async () => {
      await dialog();
      const shown = page.waitForEvent('dialog');
      page.evaluate(() => void setTimeout(() => alert('look here'))).catch(nothing);
      const open = await shown;
      dialog = () => open.accept();
    },
    () => agent.call('demo__hello'),
  );
  await dialog();
}

const closing = new Closing();
try {
  const stage = await openStage(closing);
  for (let n = 0; n < busy; n++) {
    const process = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
    closing.defer(async () => process.kill('SIGKILL'));
  }
  await measureAll(stage);
} finally {
  await closing.close();
}
