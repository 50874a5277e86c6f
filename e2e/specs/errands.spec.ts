// The errands of the comparison on pages of our own: by its agent, which decides only by what the answers say, and by
// scripts. Whether they were done is asked at the pages' server.

import { work } from '../bench/errands/errand.ts';
import { openGround } from '../bench/errands/ground.ts';
import { inLoops } from '../bench/errands/in-loops.ts';
import { onPages } from '../bench/errands/on-pages.ts';
import test, { expect } from '../stage/test.ts';

const withoutApplications = inLoops.filter(({ name }) => !name.includes('PocketBase'));

for (const { way, server, errands } of [
  { way: 'an agent that knows only what the answers say', server: 'tabrelay', errands: onPages },
  { way: 'by scripts', server: 'scripts', errands: [...onPages, ...withoutApplications] },
] as const)
  for (const errand of errands)
    test(`${way}: ${errand.name}`, async ({ closing }) => {
      const site = await errand.open(closing);
      const { driver } = await openGround(server, site.signIn, closing);
      const reported = await work(site, server, driver).catch((why: Error) => {
        throw new Error([why.message, ...driver.log.slice(-4)].join('\n'));
      });
      expect(await site.done(reported), driver.log.slice(-4).join('\n')).toBe(true);
    });
