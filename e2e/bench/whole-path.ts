// What a call costs from an HTTP request to a page in a real Chromium and back. Not a test: nothing fails on a clock.

import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { z } from 'zod';
import { Closing } from '../stage/closing.ts';
import { binary, temporaryFolder } from '../stage/paths.ts';
import { run } from '../stage/process.ts';
import { confirmed } from '../stage/terminal.ts';

const { ROUNDS } = process.env; // in place of all of them, for a look whether this program works
const sequentialCalls = Number(ROUNDS ?? 3000);
const parallelCalls = Number(ROUNDS ?? 8000);
const inFlight = 8;

type Call = () => Promise<void>;

function caller(address: string, token: string): Call {
  const agent = new http.Agent({ keepAlive: true, maxSockets: inFlight });
  const options = {
    agent,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  };
  return () =>
    new Promise((resolve, reject) => {
      const request = http.request(`http://${address}/api/v1/tools/demo__hello/call`, options, (answer) => {
        answer.resume().on('end', () => {
          if (answer.statusCode === 200) resolve();
          else reject(new Error(`a call ended with ${answer.statusCode}`));
        });
      });
      request.on('error', reject);
      request.end('{}');
    });
}

async function sequential(call: Call): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < sequentialCalls; n++) {
    const began = performance.now();
    await call();
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b);
}

async function parallel(call: Call): Promise<number> {
  let left = parallelCalls;
  const began = performance.now();
  const worker = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return parallelCalls / ((performance.now() - began) / 1000);
}

const quantile = (sorted: readonly number[], q: number): string =>
  `${(sorted[Math.floor(sorted.length * q)] ?? Number.NaN).toFixed(2)} ms`;

const closing = new Closing();
const home = await temporaryFolder('bench', closing);
const env = {
  TABRELAY_HOME: home,
  TABRELAY_LISTEN: '127.0.0.1:0',
  TABRELAY_DEMO_LISTEN: '127.0.0.1:0',
  TABRELAY_PERMISSIONS: 'auto',
};
try {
  await run(binary, ['up', '--browser', 'managed'], env);
  closing.defer(() => run(binary, ['down'], env));
  const token = (await confirmed({ binary, env }, ['clients', 'add', 'bench'])).trim();
  const state = z
    .object({ address: z.string() })
    .parse(JSON.parse(await readFile(path.join(home, 'relay.json'), 'utf8')));
  const call = caller(state.address, token);
  await sequential(call); // the first calls compile and cache
  const times = await sequential(call);
  const rate = await parallel(call);
  console.log('WHOLE PATH IN A REAL CHROMIUM              HERE           GOAL');
  console.log(`sequential call, p50                      ${quantile(times, 0.5).padEnd(14)} 1.60 ms`);
  console.log(`sequential call, p99                      ${quantile(times, 0.99).padEnd(14)} 5.00 ms`);
  console.log(
    `${inFlight} in flight                               ${`${rate.toFixed(0)} calls/s`.padEnd(14)} 1000 calls/s`,
  );
} finally {
  await closing.close();
}
