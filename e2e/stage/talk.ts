// One conversation that every client library holds: list, call, structured result, failure, progress, cancel, change of
// the tool list. What a library understood of it is its account; the same conversation
// in Go is in e2e/outside/testdata/go.

import { z } from 'zod';
import { Answer } from './answer.ts';
import { mainWorldPlugin } from './plugin.ts';
import { start } from './process.ts';
import { expect, type Stage } from './test.ts';

export const Account = z.object({
  version: z.string(),
  tools: z.array(z.string()),
  structured: z.unknown(),
  failed: z.boolean(),
  failure: z.array(z.string()),
  progress: z.array(z.number()),
  cancelled: z.string(),
  after: z.array(z.string()),
});

export type Account = z.infer<typeof Account>;

export interface Talker {
  version(): string;
  tools(): Promise<string[]>;
  call(
    name: string,
    args: Record<string, unknown>,
    options?: { onprogress?: (step: { progress: number }) => void; signal?: AbortSignal },
  ): Promise<unknown>;
  /** Resolves when the server said that the tools changed. */
  changed: Promise<unknown>;
}

export async function converse(talker: Talker, change: () => Promise<void>): Promise<Account> {
  const tools = await talker.tools();
  const hello = new Answer(await talker.call('demo__hello', { name: 'Ada' }));
  const failure = new Answer(await talker.call('trouble__who_am_i', {}));
  const progress: number[] = [];
  await talker.call(
    'trouble__slow',
    { ms: 100, steps: 5 },
    { onprogress: (step) => void progress.push(step.progress) },
  );
  const cancel = new AbortController();
  const cancelled = await talker
    .call(
      'trouble__slow',
      { ms: 20_000, steps: 200, note: 'outside' },
      { signal: cancel.signal, onprogress: () => cancel.abort('the person pressed escape') },
    )
    .then((answer) => `answered: ${JSON.stringify(answer)}`, String);
  await change();
  await talker.changed;
  return {
    version: talker.version(),
    tools,
    structured: hello.structured,
    failed: failure.failed,
    failure: [...failure.texts],
    progress,
    cancelled,
    after: await talker.tools(),
  };
}

/** Lets a program hold the conversation; it says "waiting" when the tools may change. */
export async function converseOutside(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  change: () => Promise<void>,
): Promise<Account> {
  const program = start(command, args, env);
  let over = false;
  const ended = program.ended.then((code) => {
    over = true;
    return code;
  });
  await expect.poll(() => over || program.printed().includes('waiting\n')).toBe(true);
  if (!over) await change();
  expect(await ended, program.output()).toBe(0);
  return Account.parse(JSON.parse(program.printed().replace('waiting\n', '')));
}

/** Adds a plugin, which changes the list of tools; removes it when the test is over. */
export function changeTools({ relay, demo, closing }: Stage): () => Promise<void> {
  return async () => {
    await relay.tabrelay('plugin', 'add', await mainWorldPlugin(demo.url, closing));
    closing.defer(() => relay.tabrelay('plugin', 'remove', 'main-world'));
  };
}

/** Every client has to have understood the same. */
export async function expectUnderstood(account: Account, { demo }: Stage): Promise<void> {
  expect(account.tools).toContain('demo__hello');
  expect(account.tools).not.toContain('main-world__read_title');
  expect(account.structured).toMatchObject({ url: `${demo.url}/`, greeting: expect.stringContaining('Ada') });
  // who_am_i declares an output schema: a client that checks failures against it would show a complaint of its own.
  expect(account.failed).toBe(true);
  expect(account.failure[0]).toMatch(/^\[ERROR code=AUTH_ERROR category=auth retryable=false\] /);
  expect(JSON.parse(account.failure[1] ?? 'null')).toEqual({ outcome: 'not_executed' });
  expect(account.progress).toEqual([1, 2, 3, 4, 5]);
  expect(account.cancelled).not.toContain('answered');
  expect(account.after).toContain('main-world__read_title');
}
