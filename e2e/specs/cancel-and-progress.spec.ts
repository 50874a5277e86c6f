// What happens while a tool runs: its progress reaches the agent, and the agent's cancel reaches the page.

import { httpAgent } from '../stage/agent.ts';
import { expect, type Stage, test } from '../stage/test.ts';

const transports = {
  stdio: async (stage: Stage) => stage.agent,
  HTTP: async (stage: Stage) => httpAgent(stage.relay, await stage.relay.token(), stage.closing),
};

for (const [transport, open] of Object.entries(transports)) {
  test(`over ${transport}, a cancel reaches the page and frees the tab`, async ({ sharedStage: stage }) => {
    const agent = await open(stage);
    const name = `cancelled over ${transport}`;
    const cancel = new AbortController();
    const call = agent.call(
      'trouble__slow_increment',
      { name, ms: 30_000, note: name },
      { signal: cancel.signal },
    );
    call.catch(() => {}); // it is awaited below, after the page was heard
    await stage.demo.notes(name, 1);
    cancel.abort('the person pressed escape');
    expect((await stage.demo.notes(name, 2))[1]?.text).toBe('aborted');
    await expect(call).rejects.toThrow();
    const next = await agent.call('demo__counter_increment', { name });
    expect(next.value).toMatchObject({ asked: 2 });
  });

  test(`over ${transport}, progress arrives while the tool runs`, async ({ sharedStage: stage }) => {
    const agent = await open(stage);
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void seen.push(progress);
    const answer = await agent.call('trouble__slow', { ms: 1000, steps: 5 }, { onprogress });
    expect(answer.value).toEqual({ waitedMs: 1000 });
    expect(seen).toEqual([1, 2, 3, 4, 5]);

    // A tool that is cancelled at its first step has told of it before it ended.
    const cancel = new AbortController();
    const stop = { signal: cancel.signal, onprogress: () => cancel.abort('that was enough') };
    const endless = agent.call(
      'trouble__slow',
      { ms: 30_000, steps: 30, note: `endless over ${transport}` },
      stop,
    );
    await expect(endless).rejects.toThrow('that was enough');
    expect((await stage.demo.notes(`endless over ${transport}`, 2)).map(({ text }) => text)).toEqual([
      'started',
      'aborted',
    ]);
  });
}

test('progress gives a tool its time anew', async ({ sharedStage: stage }) => {
  const answer = await stage.agent.call('trouble__slow', { ms: 12_000, steps: 60 }, { timeoutMs: 10_000 });
  expect(answer.value).toEqual({ waitedMs: 12_000 });
});

test('a tool without progress ends when its time is over, and its signal fires', async ({
  sharedStage: stage,
}) => {
  const result = await stage.agent.call('trouble__never_answer', { note: 't' }, { timeoutMs: 1500 });
  expect(result.code).toBe('TIMEOUT');
  expect(result.block).toMatchObject({
    outcome: 'unknown',
    reason: 'idle',
    timeoutMs: 1500,
    retryable: false,
  });
  const notes = (await stage.demo.notes('t', 2)).toSorted((one, other) => one.at - other.at);
  expect(notes.map((note) => note.text)).toEqual(['started', 'aborted']);
});
