// Errands done by one scripted agent with tabrelay's browser tools and with those of others, side by side; and with
// tabrelay from a shell, and by scripts that it or Playwright MCP runs. Not a test: nothing fails on a figure.
//
//   node --import tsx e2e/bench/errands.ts                     all
//   node --import tsx e2e/bench/errands.ts --only order        errands whose name has this word
//   node --import tsx e2e/bench/errands.ts --servers tabrelay  one server, or several with commas
//   … --log                                                    prints every call and its answer

import { parseArgs } from 'node:util';
import { servers } from './errands/ground.ts';
import { inApplications } from './errands/in-applications.ts';
import { inLoops } from './errands/in-loops.ts';
import { onPages } from './errands/on-pages.ts';
import { requirePeers, run } from './errands/run.ts';
import { type Run, table } from './errands/table.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, servers: { type: 'string' }, log: { type: 'boolean' } },
});

const wanted = values.servers?.split(',') ?? servers;
requirePeers(wanted);
const runs: Run[] = [];
for (const errand of [...inApplications, ...onPages, ...inLoops]) {
  if (values.only !== undefined && !errand.name.includes(values.only)) continue;
  for (const server of servers) if (wanted.includes(server)) runs.push(await run(errand, server, values.log));
}
console.log(table(runs));
