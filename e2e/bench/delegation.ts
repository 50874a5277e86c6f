// What an errand costs the context of the agent that wants it done: once it does it itself, once it delegates it. The
// wiki is real and holds this project's own documents; the model of the delegated agent follows a script, and makes the
// same calls. Not a test: nothing fails on a figure.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { openWiki, type Wiki } from '../sites/mediawiki.ts';
import { type Agent, stdioAgent } from '../stage/agent.ts';
import { Closing } from '../stage/closing.ts';
import { delegate, delegating, endOf, read, use } from '../stage/errands.ts';
import { openModel } from '../stage/model.ts';
import { repository } from '../stage/paths.ts';
import { openStage } from '../stage/test.ts';
import { tokens } from '../stage/tokens.ts';

const password = 'correct horse battery';
const articles = ['security', 'troubleshooting', 'panel'];
const target = 'Overview of outcomes';

interface Step {
  tool: string;
  input: Record<string, unknown>;
}

const Source = z.object({ revisionId: z.number(), text: z.string() });

const answer =
  'I read the three articles and added a line to "Overview of outcomes". Security: an outcome is one of ' +
  'not_executed, executed and unknown. Troubleshooting: unknown means to look before repeating. Panel: a question ' +
  'says what would be changed.';

/** The next call of whoever does the errand, by what the calls before it answered; nothing when it is done. */
function next(results: readonly unknown[]): Step | undefined {
  const n = results.length;
  if (n === 0) return { tool: 'mediawiki__search', input: { query: 'outcome' } };
  const title = articles[n - 1];
  if (title !== undefined) return { tool: 'mediawiki__read_rendered', input: { title, maxChars: 100_000 } };
  if (n === articles.length + 1) return { tool: 'mediawiki__read_page', input: { title: target } };
  if (n > articles.length + 2) return undefined;
  const { revisionId, text } = Source.parse(results.at(-1));
  const added = `${text}\n\n* An outcome is not_executed, executed or unknown.`;
  return {
    tool: 'mediawiki__edit_page',
    input: { title: target, baseRevisionId: revisionId, text: added, summary: 'Outcomes' },
  };
}

/** Tokens that a call leaves in the context of who makes it: its name and arguments, and all text it is answered. */
const ofCall = (name: string, input: object, texts: readonly string[]): number =>
  tokens(name) + tokens(JSON.stringify(input)) + tokens(texts.join('\n'));

async function alone(agent: Agent): Promise<number> {
  const results: unknown[] = [];
  let sum = 0;
  for (let step = next(results); step !== undefined; step = next(results)) {
    const said = await agent.call(step.tool, step.input);
    sum += ofCall(step.tool, step.input, said.texts);
    results.push(read(said.text));
  }
  return sum + tokens(answer);
}

const errand = {
  prompt:
    `Read the articles ${articles.map((title) => `"${title}"`).join(', ')} of the wiki. Find out what each says ` +
    `about the outcome of a call, and add one line about it at the end of "${target}". Answer with one sentence ` +
    'for each.',
};

async function delegated(agent: Agent): Promise<number> {
  const said = await delegate(agent, errand);
  const end = endOf(said);
  if (end.text !== answer) throw new Error(`the errand ended otherwise: ${said.text}`);
  return ofCall('tasks_delegate', errand, said.texts);
}

async function fill(wiki: Wiki): Promise<void> {
  for (const name of ['Alice', 'Bob']) await wiki.addUser(name, password);
  for (const title of articles)
    await wiki.save(title, await readFile(path.join(repository, 'docs', `${title}.md`), 'utf8'), 'Bob');
  await wiki.save(target, '* Every call of a tool has an outcome.', 'Bob');
}

const closing = new Closing();
try {
  const wiki = await openWiki(closing);
  await fill(wiki);
  const model = await openModel(closing);
  const stage = await openStage(closing, {
    plugins: { mediawiki: { settings: { url: `${wiki.url}/` } } },
    config: delegating(model),
  });
  const { agent, page } = stage;
  model.play(() => ({ say: answer }));
  await delegate(agent, { prompt: 'Which tabs are open?' });
  const first = tokens(model.requests[0]?.body ?? '');
  model.play((shown) => {
    const step = next(shown.results.map(({ text }) => read(text)));
    return step === undefined ? { say: answer } : use(shown, step.tool, step.input);
  });
  await page.goto(wiki.page('Special:UserLogin'));
  await page.getByLabel('Username').fill('Alice');
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.goto(wiki.page('Main Page'));

  const own = await alone(agent);
  const handed = await delegated(agent);
  const edits = (await wiki.history(target)).length - 1;
  const listed = async (flags: string[]) => {
    const view = await stdioAgent(stage.relay, closing, flags);
    return tokens(JSON.stringify((await view.client.listTools()).tools));
  };
  const row = (what: string, count: number, more = '') =>
    console.log(what.padEnd(52), String(count).padStart(8), more);
  console.log(`TOKENS (o200k) IN THE CONTEXT OF WHO WANTS IT DONE${' '.repeat(7)}HERE  GOAL`);
  row('the errand, done by itself', own);
  row('the errand, delegated', handed, `  ${((100 * handed) / own).toFixed(1)} %, goal 15 %`);
  row('first request to the delegated model, no site open', first, '  goal 4,000');
  row('list of tools: all', await listed([]));
  row('list of tools: --toolset agents', await listed(['--toolset', 'agents']));
  row('edits of the page (one each)', edits);
} finally {
  await closing.close();
}
