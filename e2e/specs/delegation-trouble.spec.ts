// A delegated errand in which something fails: the provider, the relay. The client hears what is true, the number of
// requests is what was promised, and the demo site counts that nothing was done twice.

import { agentOf, delegate, delegating, endOf, errandTest, failureOf, use } from '../stage/errands.ts';
import { openModel, type Script, type Turn } from '../stage/model.ts';
import { kinds } from '../stage/model-wires.ts';
import { expect, openStage } from '../stage/test.ts';

const test = errandTest.extend<object>({
  groundOptions: [
    async ({ model }, use) => {
      await use({ guarded: true, config: delegating(model) });
    },
    { scope: 'worker' },
  ],
});

/** Raises a counter, then meets what comes, one after the other, then answers. */
const raising = (name: string, ...troubles: Turn[]): Script => {
  const left = [...troubles];
  return (shown) => {
    if (shown.results.length === 0) return use(shown, 'demo__counter_increment', { name });
    return left.shift() ?? { say: `The counter ${name} is raised.` };
  };
};

for (const kind of kinds) {
  test(`a provider on the wire of ${kind} that asks to wait is asked once more, later`, async ({
    sharedStage: stage,
    model,
  }) => {
    const name = `slow down ${kind}`;
    const wait = { status: 429, headers: { 'retry-after': '1' } };
    model.play(raising(name, wait));
    const heard: string[] = [];
    const onprogress = ({ message = '' }) => void heard.push(message);
    const errand = { prompt: 'Raise it.', agentId: agentOf(kind) };
    const end = endOf(await delegate(stage.agent, errand, { onprogress }));
    expect(end).toMatchObject({ text: `The counter ${name} is raised.`, stopReason: 'end_turn' });
    expect(model.requests).toHaveLength(3);
    expect((await stage.demo.counter(name)).asked).toBe(1);
    expect(heard.join('\n')).toContain('retry 2 of 3');
  });

  test(`a provider on the wire of ${kind} that fails three times ends the errand, which says what it did`, async ({
    sharedStage: stage,
    model,
  }) => {
    const name = `failing ${kind}`;
    model.play(raising(name, { status: 500 }, { status: 500 }, { status: 500 }));
    const answer = await delegate(stage.agent, { prompt: 'Raise it.', agentId: agentOf(kind) });
    expect(answer.failed).toBe(true);
    const { data } = failureOf(answer);
    // Asking again could succeed, but it would raise the counter once more.
    expect(data).toMatchObject({ type: 'UPSTREAM', retryable: false, sessionValid: false, providerId: kind });
    expect(data.toolCalls?.map(({ tool, ok }) => [tool, ok])).toEqual([['demo__counter_increment', true]]);
    expect(data.recovery?.join()).toContain('look at toolCalls');
    expect(model.requests).toHaveLength(4);
    expect((await stage.demo.counter(name)).asked).toBe(1);
  });

  test(`an answer on the wire of ${kind} that is cut off is told, not taken for the whole`, async ({
    sharedStage: stage,
    model,
  }) => {
    const name = `cut ${kind}`;
    model.play(raising(name, { cut: 'The counter was not' }));
    const answer = await delegate(stage.agent, { prompt: 'Raise it.', agentId: agentOf(kind) });
    expect(answer.failed).toBe(true);
    expect(failureOf(answer).data.toolCalls).toMatchObject([{ tool: 'demo__counter_increment', ok: true }]);
    expect(model.requests).toHaveLength(2);
    expect((await stage.demo.counter(name)).asked).toBe(1);

    // Nothing was said yet: that can be asked for again.
    model.play(raising(name, { cut: '' }));
    expect(endOf(await delegate(stage.agent, { prompt: 'Again.', agentId: agentOf(kind) })).stopReason).toBe(
      'end_turn',
    );
    expect(model.requests).toHaveLength(3);
    expect((await stage.demo.counter(name)).asked).toBe(2);
  });
}

test('the relay is killed amid an errand: the client hears the truth, and nothing is done twice', async ({
  closing,
}) => {
  const model = await openModel(closing);
  const stage = await openStage(closing, { guarded: true, config: delegating(model) });
  closing.defer(() => stage.relay.tabrelay('down'));
  model.play(async (shown, gone) => {
    if (shown.results.length === 0) return use(shown, 'demo__counter_increment', { name: 'killed' });
    await new Promise((resolve) => gone.addEventListener('abort', resolve));
    return { say: 'nobody hears this' };
  });
  const call = delegate(stage.agent, { prompt: 'Raise it.', agentId: agentOf('openai') });
  call.catch(() => {}); // it is awaited below
  await expect.poll(() => model.requests).toHaveLength(2);
  expect((await stage.demo.counter('killed')).asked).toBe(1);
  const running = await stage.relay.announced();
  if (running === undefined) throw new Error('there is no relay to kill');
  process.kill(running.pid, 'SIGKILL');
  const answer = await call;
  expect(answer.failed).toBe(true);
  const { data } = failureOf(answer);
  expect(data).toMatchObject({ type: 'TRANSPORT', retryable: false });
  expect(data.recovery?.join()).toContain('may have happened');
  // The demo site restarted with the relay and counts from zero: anything done again would show.
  expect((await stage.agent.call('demo__hello')).failed).toBe(false);
  expect((await stage.demo.counter('killed')).asked).toBe(0);
  expect(model.requests).toHaveLength(2);
});
