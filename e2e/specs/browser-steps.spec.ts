// Steps of one call that need what earlier ones bring, expect something of it, or are surprised; and where in a page
// its new lines stand.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import base, { expect, type Stage, visit } from '../stage/test.ts';

const board = `<!doctype html><title>Board</title><h1>Board</h1>
  <form action="/thanks"><label>Name <input name="name" required></label><button>Send</button></form>
  <ul aria-label="People"><li id="ada">Ada <button>Open</button></li></ul>
  <button onclick="setTimeout(() => ada.insertAdjacentHTML('afterend',
    '<li>Benjamin <button onclick=\\'ben.hidden = false\\'>Open</button></li>'), 700)">Add Ben</button>
  <p id="ben" hidden>Ben is open</p>
  <button onclick="answer.textContent = confirm('Sure?')">Ask</button><p id="answer"></p>
  <button onclick="setTimeout(() => { late.textContent = 'Here it is' }, 1500)">Late</button><p id="late"></p>
  <section aria-label="News" id="news">${Array.from(
    { length: 8 },
    (_, n) => `<p>News ${n} <button>Read ${n}</button></p>`,
  ).join('')}</section>
  <button onclick="news.innerHTML = '<p>No news'">Clear</button><p>The end</p>`;
const thanks =
  '<!doctype html><title>Thanks</title><p id="p"></p><script>setTimeout(() => { p.innerHTML = "Done" }, 900)</script>';

const test = base.extend<{ agent: Acting & { stage: Stage } }>({
  agent: async ({ sharedStage: stage, closing }, use) => {
    await visit(stage, `${await openSite(closing, { board, thanks })}/board`);
    await use(Object.assign(new Acting(stage.agent), { stage }));
  },
});

const act = async (agent: Acting, ...steps: object[]) =>
  (await agent.agent.call('browser__act', { steps })).text;

test('a step names what an earlier one brings, in words, also where that comes late', async ({ agent }) => {
  const add = await agent.ref('button "Add Ben"');
  const said = await act(
    agent,
    { tool: 'click', ref: add },
    { tool: 'click', ref: 'button "Open" in "Benjamin"' },
  );
  expect(said).toMatch(/^1\. clicked button "Add Ben" \[e\d+\]\n/);
  expect(said).toMatch(/^2\. clicked button "Open" \[e\d+\]\n(?:.*\n)*\+ "Ben is open"/m);
});

test('one call fills a form, sends it, waits for words of the next page and looks at it', async ({
  agent,
}) => {
  const ref = await agent.ref('textbox "Name"');
  const fields = [{ ref, value: 'Ada' }];
  const said = await act(agent, { tool: 'fill', fields, submit: true, until: 'Done' });
  expect(said).toMatch(
    /^1\. filled textbox "Name" \[e\d+\].* = "Ada"\npage "Thanks" \S+\/thanks\?name=Ada\n"Done"$/,
  );
});

test('words that a step is to bring are waited for, and told where they do not come', async ({ agent }) => {
  const late = await agent.ref('button "Late"');
  expect(await act(agent, { tool: 'click', ref: late, until: 'here IT is' })).toContain('+ "Here it is"');
  const said = await act(agent, { tool: 'click', ref: late, until: 'Never' }, { tool: 'click', ref: late });
  expect(said).toMatch(
    /^notDone: 1\nnote: Ended after step 1: "Never" did not appear\n1\. clicked button "Late"/,
  );
  expect(said).toContain('missing: "Never"');
});

test('steps end where a page asks what nobody has answered, or refuses a field', async ({ agent }) => {
  const ask = await agent.ref('button "Ask"');
  const send = await agent.ref('button "Send"');
  const asked = await act(agent, { tool: 'click', ref: ask }, { tool: 'click', ref: ask });
  expect(asked).toContain('notDone: 1\nnote: Ended after step 1: the page opened a dialog\n');
  const answered = await act(
    agent,
    { tool: 'click', ref: ask, dialogs: 'accept' },
    { tool: 'click', ref: ask, dialogs: 'dismiss' },
  );
  expect(answered).not.toContain('notDone');
  expect(await agent.stage.page.textContent('#answer')).toBe('false');
  const sent = await act(agent, { tool: 'click', ref: send }, { tool: 'click', ref: ask });
  expect(sent).toContain('notDone: 1\nnote: Ended after step 1: the page refuses what a field holds\n');
});

test('new lines say where they stand, and of a part that is gone its references are told', async ({
  agent,
}) => {
  const add = await agent.ref('button "Add Ben"');
  const added = await act(agent, { tool: 'click', ref: add, until: 'Benjamin' });
  const open = await agent.ref('button "Open"');
  expect(added).toContain(`\n+ "Benjamin" (after ${open})\n+ button "Open" [`);
  const look = await agent.look({ full: true });
  const news = Array.from(look.matchAll(/button "Read \d" \[(e\d+)\]/g), ([, ref]) => ref);
  const cleared = await agent.agent.call('browser__click', { ref: await agent.ref('button "Clear"') });
  expect(cleared.text).toContain('"No news"');
  expect(cleared.text).toContain(`(${news.at(0)}-${news.at(-1)})`);
  expect(cleared.text.match(/^- /gm)).toHaveLength(1);
});
