// Errands done by one scripted agent with tabrelay's browser tools, with Playwright MCP and with chrome-devtools-mcp,
// side by side; and with tabrelay from a shell, and by scripts that it or Playwright MCP runs. Not a test: nothing fails
// on a figure.
//
//   node --import tsx e2e/bench/errands.ts                     all
//   node --import tsx e2e/bench/errands.ts --only order        errands whose name has this word
//   node --import tsx e2e/bench/errands.ts --servers tabrelay  one server, or several with commas
//   … --log                                                    prints every call and its answer

import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Closing } from '../stage/closing.ts';
import { type Errand, work } from './errands/errand.ts';
import { openGround, own, peers, type Server, servers } from './errands/ground.ts';
import { inApplications } from './errands/in-applications.ts';
import { inLoops } from './errands/in-loops.ts';
import { onPages } from './errands/on-pages.ts';
import { type Run, table } from './errands/table.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, servers: { type: 'string' }, log: { type: 'boolean' } },
});

async function run(errand: Errand, server: Server): Promise<Run> {
  const closing = new Closing();
  const none = { success: false, begun: false, calls: 0, tokens: 0, ms: 0, known: 0 };
  const done: Run = { errand: errand.name, server, ...none };
  try {
    const site = await errand.open(closing);
    const { driver } = await openGround(server, site.signIn, closing);
    done.known = await driver.known();
    done.begun = true;
    const began = performance.now();
    let reported = '';
    try {
      reported = await work(site, server, driver);
    } catch (why) {
      done.why = why instanceof Error ? why.message : String(why);
    }
    done.ms = performance.now() - began;
    // What the server has is what counts, whatever the answers said.
    done.success = await site.done(reported);
    Object.assign(done, { calls: driver.calls, tokens: driver.tokens });
    if (values.log === true) console.log(driver.log.join('\n'));
    if (done.why !== undefined) console.log(`${server}, ${errand.name}: ${done.why}`);
  } catch (why) {
    done.why = `not begun: ${why instanceof Error ? why.message : String(why)}`;
    console.log(`${server}, ${errand.name}: ${done.why}`);
  } finally {
    await closing.close();
  }
  return done;
}

/** A site or a browser that did not start in time on a busy machine is started once more. */
async function twice(errand: Errand, server: Server): Promise<Run> {
  const first = await run(errand, server);
  return first.begun ? first : run(errand, server);
}

const wanted = values.servers?.split(',') ?? servers;
if (wanted.some((server) => !own.some((one) => one === server)) && !existsSync(peers))
  throw new Error(`${peers} does not exist. Run "make peers" first.`);
const runs: Run[] = [];
for (const errand of [...inApplications, ...onPages, ...inLoops]) {
  if (values.only !== undefined && !errand.name.includes(values.only)) continue;
  for (const server of servers) if (wanted.includes(server)) runs.push(await twice(errand, server));
}
console.log(table(runs));
