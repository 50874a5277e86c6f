import { defineTool, retry, sleep } from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';

const tryAgain = defineTool({
  name: 'try_again',
  description: 'Succeeds at the third try',
  input: z.object({}),
  output: z.object({ tries: z.number() }),
  async handle() {
    let tries = 0;
    await retry(
      async () => {
        tries++;
        if (tries < 3) throw new Error('not yet');
      },
      { delay: 5 },
    );
    return { tries };
  },
});

const takeTime = defineTool({
  name: 'take_time',
  description: 'Works for a while and says how far it is',
  input: z.object({ steps: z.number().int().max(10) }),
  output: z.object({ done: z.number() }),
  async handle({ steps }, context) {
    for (let step = 1; step <= steps; step++) {
      await sleep(10);
      context?.reportProgress({ progress: step, total: steps, message: `step ${step}` });
    }
    return { done: steps };
  },
});

export const timingTools = [tryAgain, takeTime];
