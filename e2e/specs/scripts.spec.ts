// One script in place of forty calls, in a real page: what its agent reads of it, beside the same errand step by step.

import { openSite } from '../sites/own-pages.ts';
import { stdioAgent } from '../stage/agent.ts';
import type { Answer } from '../stage/answer.ts';
import { expect, test, visit } from '../stage/test.ts';
import { tokens } from '../stage/tokens.ts';

const numbers = Array.from({ length: 40 }, (_, index) => index + 1);

/** Who a record is of, and what they owe. */
const record = (n: number) => ({ name: `Person ${n}`, due: `${n * 3}.50` });

const pages = Object.fromEntries([
  [
    '',
    `<title>Records</title><h1>Records</h1>${numbers.map((n) => `<p><a href="/r${n}">${n}</a>`).join('')}`,
  ],
  ...numbers.map((n) => {
    const { name, due } = record(n);
    const fields = `<tr><td>Name<td>${name}<tr><td>Due<td>${due}<tr><td>Notes<td>${'Paid late. '.repeat(40)}`;
    return [`r${n}`, `<title>Record ${n}</title><h1>Record ${n}</h1><table>${fields}</table>`];
  }),
]);

const collects = `
const found = []
for (const n of args.numbers) {
  await browser.navigate({ to: args.site + '/r' + n })
  const { rows } = await browser.read({ what: 'tables', table: '0' })
  const fields = Object.fromEntries(rows)
  found.push(fields.Name + ': ' + fields.Due)
}
found.join('; ')`;

/** What an answer costs the agent that reads it, with the call that it made. */
const cost = (call: unknown, answer: Answer) => tokens(JSON.stringify(call)) + tokens(answer.text);

test('the fields of forty records by one call', async ({ sharedStage: stage, closing }) => {
  const { agent } = stage;
  const site = await openSite(closing, pages);
  await visit(stage, `${site}/`);
  const want = numbers.map((n) => `${record(n).name}: ${record(n).due}`).join('; ');

  const errand = { script: collects, args: { numbers, site }, timeoutMs: 120_000 };
  const answer = await agent.call('relay__run', errand);
  expect(answer.failed, answer.texts.join('\n')).toBe(false);
  // A text comes as it is: what it says is not written as JSON in JSON.
  expect(answer.texts).toEqual([want, 'Calls executed: browser__navigate ×40, browser__read ×40']);
  expect(answer.meta['tabrelay/untrusted']).toBe(true);

  // The same for three of them, step by step, by an agent that reads what it gets.
  let byHand = 0;
  for (const n of [1, 2, 3]) {
    const to = { to: `${site}/r${n}` };
    byHand += cost(to, await agent.call('browser__navigate', to));
    const what = { what: 'tables', table: '0' };
    const read = await agent.call('browser__read', what);
    expect(read.text).toContain(record(n).name);
    byHand += cost(what, read);
  }
  const script = cost(errand, answer);
  const steps = Math.round((byHand / 3) * numbers.length);
  test.info().annotations.push({
    type: 'tokens',
    description: `script ${script} in 1 call, steps ${steps} in ${2 * numbers.length}`,
  });
  expect(steps / script, 'what the steps cost').toBeGreaterThan(5);
});

test('a script that fails says where and what it has done', async ({ sharedStage: stage }) => {
  const { agent, demo } = stage;
  await visit(stage, `${demo.url}/`);
  const script =
    "const { value } = await tools.demo.counterIncrement({ name: 'scripts' })\n" +
    "log('at', value)\nawait tools.demo.getPage({ slug: 'no-such-page' })";
  const answer = await agent.call('relay__run', { script });
  expect(answer.code).toBe('SCRIPT_FAILED');
  expect(answer.text).toContain('Line 3, column');
  expect(answer.text).toContain('demo__get_page failed with NOT_FOUND');
  expect(answer.text).toContain('outcome=executed');
  const before = answer.texts.join('\n');
  expect(before).toContain('Calls executed: demo__counter_increment, demo__get_page (line 3, NOT_FOUND)');
  expect(before).toContain('Log: ["at 1"]');
  const again = { script: "(await tools.demo.counterIncrement({ name: 'scripts' })).value", id: 'once' };
  const first = await agent.call('relay__run', again);
  expect((await agent.call('relay__run', again)).texts.join()).toContain('did not run again');
  expect(JSON.parse(first.text)).toMatchObject({ value: 2 });
  expect((await agent.call('demo__counter_read', { name: 'scripts' })).value).toMatchObject({ value: 2 });
});

test('relay__run costs at most 250 tokens in the list', async ({ sharedStage: { relay }, closing }) => {
  const agent = await stdioAgent(relay, closing);
  const run = (await agent.client.listTools()).tools.find(({ name }) => name === 'relay__run');
  const listed = [run?.name ?? '', run?.description ?? '', JSON.stringify(run?.inputSchema)];
  expect(listed.reduce((sum, text) => sum + tokens(text), 0)).toBeLessThanOrEqual(250);
  const types = await agent.call('relay__describe_tool', { name: 'demo__get_page', as: 'types' });
  expect(types.text).toBe(
    '/** The title and text of a page of the demo site */\n' +
      'tools.demo.getPage(args: { slug: string }): Promise<{ title: string; text: string }>;',
  );
});
