// One errand done with one server, and what it cost.

import { existsSync } from 'node:fs';
import { Closing } from '../../stage/closing.ts';
import { type Errand, work } from './errand.ts';
import { openGround, own, peers, type Server } from './ground.ts';
import type { Run } from './table.ts';

export function requirePeers(wanted: readonly string[]): void {
  if (wanted.some((server) => !own.some((one) => one === server)) && !existsSync(peers))
    throw new Error(`${peers} does not exist. Run "make peers" first.`);
}

async function once(errand: Errand, server: Server, log: boolean): Promise<Run> {
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
    if (log) console.log(driver.log.join('\n'));
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
export async function run(errand: Errand, server: Server, log = false): Promise<Run> {
  const first = await once(errand, server, log);
  return first.begun ? first : once(errand, server, log);
}
