// What a question costs: the time from a call to its question, and from the person's word to the answer, beside the same
// call without one; and how many tokens the answers have. The client shows the question and answers at once, so that no
// time of a person is in it. Not a test: nothing fails on a figure.

import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import type { Agent } from '../stage/agent.ts';
import { askedAgent, picks } from '../stage/asked-agent.ts';
import { Closing } from '../stage/closing.ts';
import { openStage, visit } from '../stage/test.ts';
import { tokens } from '../stage/tokens.ts';

const rounds = Number(process.env.ROUNDS ?? 30);
const five = [1, 2, 3, 4, 5];

const form = `<!doctype html><title>Order</title><h1>Order</h1>
<form onsubmit="return false">${five.map((n) => `<label>Field ${n} <input id="field${n}"></label>`).join('')}</form>
${five.map((n) => `<button onclick="said.textContent = 'Added ${n} at ' + (++count)">Add ${n}</button>`).join('')}
<p id="said">Nothing added</p><script>let count = 0;</script>`;

interface Measured {
  toQuestion: number[]; // from the call to its question
  fromWord: number[]; // from the person's word to the answer
  whole: number[];
  tokens: number[];
}

let shown = 0; // when the last question was

async function measure(
  agent: Agent,
  tool: string,
  args: (round: number) => Record<string, unknown>,
): Promise<Measured> {
  const of: Measured = { toQuestion: [], fromWord: [], whole: [], tokens: [] };
  for (let round = -2; round < rounds; round++) {
    shown = 0;
    const began = performance.now();
    const answer = await agent.call(tool, args(round));
    const ended = performance.now();
    if (answer.failed) throw new Error(answer.text);
    if (round < 0) continue; // to warm up
    of.whole.push(ended - began);
    of.tokens.push(tokens(answer.texts.join('\n')));
    if (shown > 0) {
      of.toQuestion.push(shown - began);
      of.fromWord.push(ended - shown);
    }
  }
  return of;
}

const median = (list: readonly number[]): string =>
  list.length === 0
    ? '-'
    : (list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN).toFixed(1);

const closing = new Closing();
try {
  const look = { browser__snapshot: 'auto', demo: 'auto', browser: 'auto' };
  const stage = await openStage(closing, { guarded: true, config: { permissions: look } });
  const agent = await askedAgent(stage.relay, closing, () => {
    shown = performance.now();
    return picks('Allow once');
  });
  const acting = new Acting(agent);
  const site = await openSite(closing, { form });
  const open = async () => {
    await visit(stage, `${site}/form`);
    const fields = await Promise.all(five.map((n) => acting.ref(`textbox "Field ${n}"`)));
    const buttons = await Promise.all(five.map((n) => acting.ref(`button "Add ${n}"`)));
    const calls: Record<string, [tool: string, args: (round: number) => Record<string, unknown>]> = {
      'a click': ['browser__click', () => ({ ref: buttons[0] })],
      'a fill of 5 fields': [
        'browser__fill',
        (round) => ({ fields: fields.map((ref, n) => ({ ref, value: `Tea ${n} of ${round}` })) }),
      ],
      'an act of 5 steps': [
        'browser__act',
        () => ({ steps: buttons.map((ref) => ({ tool: 'click', ref })) }),
      ],
    };
    return calls;
  };
  // No page is asked about what a plugin's tool would do: what its question takes is the rest of every question.
  const counting = ['demo__counter_increment', () => ({ name: 'bench', by: 1 })] as const;
  const print = (what: string, without: Measured, asked: Measured) =>
    console.log(
      [
        what.padEnd(32),
        ...[without.whole, asked.toQuestion, asked.fromWord, asked.whole, without.tokens, asked.tokens].map(
          (list) => median(list).padStart(12),
        ),
      ].join(''),
    );
  console.log(
    `MEDIANS OF ${rounds}`.padEnd(32) +
      ['without', 'to question', 'from word', 'whole', 'tokens', 'asked']
        .map((one) => one.padStart(12))
        .join(''),
  );
  const ask = (target: string) => stage.relay.tabrelay('permit', 'set', target, 'ask');
  const countingAlone = await measure(agent, ...counting);
  await ask('demo');
  print("a plugin's tool, no preview", countingAlone, await measure(agent, ...counting));
  const without = new Map<string, Measured>();
  for (const [what, [tool, args]] of Object.entries(await open()))
    without.set(what, await measure(agent, tool, args));
  await ask('browser');
  for (const [what, [tool, args]] of Object.entries(await open())) {
    const alone = without.get(what);
    if (alone !== undefined) print(what, alone, await measure(agent, tool, args));
  }
} finally {
  await closing.close();
}
