// The errands of the comparison on pages of our own, by its agent, which decides only by what the answers say: whether
// they were done is asked at the pages' server.

import { Agent } from '../bench/errands/agent.ts';
import { openGround } from '../bench/errands/ground.ts';
import { onPages } from '../bench/errands/on-pages.ts';
import test, { expect } from '../stage/test.ts';

for (const errand of onPages)
  test(`an agent that knows only what the answers say: ${errand.name}`, async ({ closing }) => {
    const site = await errand.open(closing);
    const { driver } = await openGround('tabrelay', site.signIn, closing);
    const reported = await site.work(new Agent(driver)).catch((why: Error) => {
      throw new Error([why.message, ...driver.log.slice(-4)].join('\n'));
    });
    expect(await site.done(String(reported)), driver.log.slice(-4).join('\n')).toBe(true);
  });
