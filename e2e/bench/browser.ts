// How long it takes to look at pages of 12,000 elements and to act in them: in the page alone, and as a whole call of
// an agent. PROFILE=1 also prints where the time in the page goes. Not a test: nothing fails on a clock.

import path from 'node:path';
import type { CDPSession, Page } from '@playwright/test';
import { build } from 'esbuild';
import { z } from 'zod';
import { largePages } from '../sites/large.ts';
import { openSite } from '../sites/own-pages.ts';
import { Closing } from '../stage/closing.ts';
import { repository } from '../stage/paths.ts';
import { openStage, type Stage, visit } from '../stage/test.ts';

const rounds = Number(process.env.ROUNDS ?? 30);
const only = process.env.PAGE?.split(',') ?? Object.keys(largePages);
const millisecondsShape = z.array(z.number());

/** The extension's world in a page, where the code that looks runs. */
class Inside {
  readonly #session: CDPSession;
  readonly #world: number;

  private constructor(session: CDPSession, world: number) {
    this.#session = session;
    this.#world = world;
  }

  static async of(page: Page): Promise<Inside> {
    const session = await page.context().newCDPSession(page);
    const world = new Promise<number>((resolve) =>
      session.on('Runtime.executionContextCreated', ({ context }) => {
        if (context.origin.startsWith('chrome-extension://')) resolve(context.id);
      }),
    );
    await session.send('Runtime.enable');
    return new Inside(session, await world);
  }

  async run(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#session.send('Runtime.evaluate', {
      expression,
      contextId: this.#world,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** The functions that took longest while something ran, by their own time. */
  async profile(run: () => Promise<unknown>): Promise<string[]> {
    await this.#session.send('Profiler.enable');
    await this.#session.send('Profiler.setSamplingInterval', { interval: 100 });
    await this.#session.send('Profiler.start');
    await run();
    const { profile } = await this.#session.send('Profiler.stop');
    const { nodes, samples = [], timeDeltas = [] } = profile;
    const names = new Map(
      nodes.map(({ id, callFrame }) => [id, `${callFrame.functionName}:${callFrame.lineNumber}`]),
    );
    const own = new Map<string, number>();
    samples.forEach((id, at) => {
      const name = names.get(id) ?? '';
      own.set(name, (own.get(name) ?? 0) + (timeDeltas[at] ?? 0) / 1000);
    });
    const sorted = [...own].sort(([, a], [, b]) => b - a).slice(0, 25);
    return sorted.map(([name, ms]) => `    ${name.padEnd(40)} ${(ms / rounds).toFixed(2).padStart(8)} ms`);
  }
}

async function bundled(): Promise<string> {
  const browser = path.join(repository, 'extension/src/browser');
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { forget } from './kept.ts';
        import { lines } from './tree.ts';
        import { look } from './looking.ts';
        import { page } from './act/document.ts';
        const request = { from: 0, characters: 5200, full: false, viewer: 'bench' };
        const nudge = () => {
          const one = document.querySelector('#out');
          one.textContent = Number(one.textContent) + 1;
        };
        const timed = async (act, before = () => {}) => {
          const took = [];
          for (let n = 0; n < ${rounds}; n++) {
            before(n);
            document.body.offsetHeight;
            await new Promise((resolve) => setTimeout(resolve));
            const began = performance.now();
            act();
            took.push(performance.now() - began);
          }
          return took;
        };
        globalThis.bench = {
          elements: () => document.querySelectorAll('*').length,
          first: () => timed(() => look(document, '', { ...request, full: true }), forget),
          whole: () => timed(() => lines(document, { everything: true })),
          unchanged: () => timed(() => look(document, '', request)),
          changed: () => timed(() => look(document, '', request), nudge),
          act: () => timed(() => { const mark = page.mark(); nudge(); page.changesSince(mark); }),
        };`,
      resolveDir: browser,
      loader: 'ts',
    },
    bundle: true,
    write: false,
    format: 'iife',
    target: 'chrome120',
    alias: { '@tabrelay/plugin-sdk': path.join(repository, 'plugin-sdk/src/index.ts') },
  });
  return outputFiles[0]?.text ?? '';
}

const at = (times: readonly number[], share: number): string => {
  const sorted = times.toSorted((a, b) => a - b);
  return `${(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1)} ms`;
};

const print = (what: string, times: readonly number[]): void =>
  console.log(`  ${what.padEnd(44)}${[0, 0.5, 0.95].map((share) => at(times, share).padStart(10)).join('')}`);

async function inPage(stage: Stage, code: string): Promise<void> {
  const inside = await Inside.of(stage.page);
  await inside.run(code);
  console.log(`  in the page, ${await inside.run('bench.elements()')} elements:`);
  for (const [what, name] of [
    ['a first snapshot', 'first'],
    ['every line, as find reads them', 'whole'],
    ['a snapshot where nothing changed', 'unchanged'],
    ['a snapshot where one line changed', 'changed'],
    ['what one act costs', 'act'],
  ] as const) {
    const run = () => inside.run(`bench.${name}()`);
    print(what, millisecondsShape.parse(await run()));
    if (process.env.PROFILE) console.log((await inside.profile(run)).join('\n'));
  }
}

async function asCalls({ agent }: Stage): Promise<void> {
  const timed = async (name: string, args: Record<string, unknown>): Promise<number[]> => {
    const took: number[] = [];
    for (let n = 0; n < rounds; n++) {
      const began = performance.now();
      const answer = await agent.call(name, args);
      took.push(performance.now() - began);
      if (answer.failed) throw new Error(answer.text);
    }
    return took;
  };
  console.log('  as a call:');
  print('browser__snapshot, whole', await timed('browser__snapshot', { full: true }));
  print('browser__snapshot, unchanged', await timed('browser__snapshot', {}));
  const found = await agent.call('browser__find', { text: 'Act', role: 'button' });
  const ref = /\[(e\d+)\]/.exec(found.text)?.[1] ?? '';
  print('browser__click, with what it changed', await timed('browser__click', { ref }));
  print('browser__find', await timed('browser__find', { text: 'not there' }));
}

const closing = new Closing();
try {
  const code = await bundled();
  const stage = await openStage(closing, { config: { permissions: { default: 'auto' } } });
  const site = await openSite(closing, largePages);
  console.log(
    `${'SEEING AND ACTING'.padEnd(46)}${'least'.padStart(10)}${'p50'.padStart(10)}${'p95'.padStart(10)}`,
  );
  for (const name of only) {
    console.log(name);
    await visit(stage, `${site}/${name}`);
    await stage.agent.call('browser__snapshot'); // so that the extension is there
    if (!process.env.CALLS_ONLY) await inPage(stage, code);
    if (!process.env.PAGE_ONLY) await asCalls(stage);
  }
} finally {
  await closing.close();
}
