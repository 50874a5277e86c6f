// What happens while a tool runs: its progress reaches the agent, and the agent's cancel reaches the page.

import { httpAgent } from '../stage/agent.ts';
import { expect, quickest, type Stage, test, timed } from '../stage/test.ts';

const transports = {
  stdio: async (stage: Stage) => stage.agent,
  HTTP: async (stage: Stage) => httpAgent(stage.relay, await stage.relay.token(), stage.closing),
};

for (const [transport, open] of Object.entries(transports)) {
  test(`over ${transport}, a cancel reaches the page within 100 ms and frees the tab`, async ({ stage }) => {
    const agent = await open(stage);
    const reached = await quickest(100, async (n) => {
      const name = `c${n}`;
      const cancel = new AbortController();
      const call = agent.call(
        'demo__slow_increment',
        { name, ms: 30_000, note: name },
        { signal: cancel.signal },
      );
      call.catch(() => {}); // it is awaited below, after the page was heard
      await stage.demo.notes(name, 1);
      const cancelled = Date.now();
      cancel.abort('the person pressed escape');
      const [, aborted] = await stage.demo.notes(name, 2);
      expect(aborted?.text).toBe('aborted');
      await expect(call).rejects.toThrow();
      const { result, ms } = await timed(agent.call('demo__counter_increment', { name }));
      expect(result.value).toMatchObject({ asked: 2 });
      const heard = (aborted?.at ?? Number.POSITIVE_INFINITY) - cancelled;
      return Math.max(heard, ms - 900); // the next call has its answer within a second
    });
    expect(reached).toBeLessThan(100);
  });

  test(`over ${transport}, progress arrives while the tool runs`, async ({ stage }) => {
    const agent = await open(stage);
    // The first step comes 800 ms before the end; a client that was held up meanwhile reads both at once.
    const late = await quickest(300, async () => {
      const seen: { progress: number; at: number }[] = [];
      const onprogress = ({ progress }: { progress: number }) =>
        seen.push({ progress, at: performance.now() });
      const answer = await agent.call('demo__slow', { ms: 1000, steps: 5 }, { onprogress });
      const ended = performance.now();
      expect(answer.value).toEqual({ waitedMs: 1000 });
      expect(seen.map((one) => one.progress)).toEqual([1, 2, 3, 4, 5]);
      return 800 - (ended - (seen[0]?.at ?? ended));
    });
    expect(late).toBeLessThan(300);
  });
}

test('progress gives a tool its time anew', async ({ stage }) => {
  const answer = await stage.agent.call('demo__slow', { ms: 12_000, steps: 60 }, { timeoutMs: 10_000 });
  expect(answer.value).toEqual({ waitedMs: 12_000 });
});

test('a tool without progress ends when its time is over, and its signal fires', async ({ stage }) => {
  const { result, ms } = await timed(
    stage.agent.call('demo__never_answer', { note: 't' }, { timeoutMs: 1500 }),
  );
  expect(result.code).toBe('TIMEOUT');
  expect(result.block).toMatchObject({
    outcome: 'unknown',
    reason: 'idle',
    timeoutMs: 1500,
    retryable: false,
  });
  expect(ms).toBeLessThan(20_000); // not the tool's own time, which has no end
  const notes = (await stage.demo.notes('t', 2)).toSorted((one, other) => one.at - other.at);
  expect(notes.map((note) => note.text)).toEqual(['started', 'aborted']);
});
