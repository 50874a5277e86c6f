// An agent fills and clicks in pages that no plugin was written for, and is told what came of it.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { openActSite } from '../sites/acts.ts';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import base, { expect, type Stage, visit } from '../stage/test.ts';

const test = base.extend<{ at: (page: string) => Promise<Acting & { stage: Stage; site: string }> }>({
  at: async ({ sharedStage: stage, closing }, use) => {
    const { url } = await openActSite(closing);
    await use(async (page) => {
      await visit(stage, `${url}/${page}`);
      return Object.assign(new Acting(stage.agent), { stage, site: url });
    });
  },
});

test('fields of every kind are filled, and read back', async ({ at }) => {
  const agent = await at('fields');
  const fields: [words: string, value: unknown, held?: unknown][] = [
    ['textbox "Name"', 'Ada Lovelace'],
    ['textbox "Notes"', 'first\nsecond'],
    ['spinbutton "Amount"', 7, '7'],
    ['date "Day"', '2026-11-22'],
    ['time "Hour"', '17:30'],
    ['datetime "Moment"', '2026-11-22T17:30'],
    ['colour "Colour"', '#1a2b3c'],
    ['slider "Volume"', 4, '4'],
    ['combobox "Country"', 'Belgium'],
    ['listbox "Toppings"', ['Cheese', 'Olives']],
    ['checkbox "I agree"', true],
    ['switch "Newsletter"', true],
    ['radio "Large"', true],
    ['textbox "Rich"', 'new words'],
    ['switch "Dark"', true],
    ['slider "Heat"', 35],
    ['combobox "Planet"', 'Venus'],
    ['combobox "City"', 'Ghent'],
  ];
  for (const [words, value, held = value] of fields)
    expect(await agent.fill(words, value), words).toMatchObject({ value: held, verified: true });
  const sent = await agent.click('button "Send"');
  expect(sent.changes).toContain(
    'sent name=Ada Lovelace short= fixed=as it is notes=first second amount=7 day=2026-11-22 hour=17:30 ' +
      'moment=2026-11-22T17:30 colour=#1a2b3c volume=4 country=be toppings=Cheese toppings=Olives agree=on ' +
      'newsletter=on size=l',
  );
});

test('what a field does not take is refused, and nothing is filled', async ({ at }) => {
  const agent = await at('fields');
  const name = await agent.ref('textbox "Name"');
  for (const [words, value, why] of [
    ['textbox "Short"', 'too long', /at most 4 characters/],
    ['textbox "Fixed"', 'other', /read-only/],
    ['spinbutton "Amount"', 12, /nothing above 9/],
    ['spinbutton "Amount"', 'many', /a number/],
    ['date "Day"', 'tomorrow', /as 2026-11-22/],
    ['slider "Volume"', 11, /from 0 to 10/],
    ['combobox "Country"', 'Peru', /no option "Peru"/],
    ['combobox "Country"', 'Chad', /disabled/],
    ['checkbox "I agree"', 'perhaps', /true or false/],
    ['button "Send"', 'x', /not a field/],
  ] as const) {
    const fields = [
      { ref: name, value: 'never' },
      { ref: await agent.ref(words), value },
    ];
    const failure = await agent.failure('fill', { fields });
    expect(failure, words).toMatchObject({ code: 'VALIDATION_ERROR', outcome: 'not_executed' });
    expect(failure.text).toMatch(why);
  }
  expect(await agent.stage.page.inputValue('[name=name]')).toBe('');
});

test('a click tells what it changed, and says when that is nothing', async ({ at }) => {
  const agent = await at('widgets');
  expect(await agent.click('button "Add one"')).toMatchObject({ changes: expect.stringContaining('"1"') });
  const nothing = await agent.click('button "Nothing"');
  const ref = await agent.ref('button "Nothing"');
  expect(nothing).toMatchObject({ focused: ref, on: `button "Nothing" [${ref}]` });
  expect(nothing.changes).toBeUndefined();
  expect(await agent.do('click', { ref })).toMatchObject({ noEffect: true }); // it has the focus by now
  expect(await agent.click('button "Late"')).toMatchObject({ changes: expect.stringContaining('late') });
  expect(await agent.click('button "Moving"')).toMatchObject({ changes: expect.stringContaining('caught') });
  expect(await agent.click('button "Twice"', { count: 2 })).toMatchObject({
    changes: expect.stringContaining('twice'),
  });
  expect(await agent.click('button "Context"', { button: 'right' })).toMatchObject({
    changes: expect.stringContaining('context menu'),
  });
  expect(await agent.click('button "Fail"')).toMatchObject({
    changes: expect.stringContaining('answered'),
    failedRequests: [`GET ${agent.site}/broken: 503`],
  });
  expect(await agent.click('button "Single page"')).toMatchObject({
    url: `${agent.site}/widgets/inner`,
    title: 'Inner',
  });
});

test('what cannot be clicked is not, and the answer says why', async ({ at }) => {
  const agent = await at('widgets');
  const off = await agent.failure('click', { ref: await agent.ref('button "Off"') });
  expect(off).toMatchObject({ code: 'TARGET_NOT_READY', outcome: 'not_executed' });
  const under = await agent.failure('click', { ref: await agent.ref('button "Under"') });
  expect(under).toMatchObject({ code: 'TARGET_COVERED', outcome: 'not_executed' });
  expect(under.text).toContain('A cover');
  const gone = await agent.ref('button "Twice"');
  await agent.stage.page.evaluate(() => document.getElementById('twice')?.remove());
  expect(await agent.failure('click', { ref: gone })).toMatchObject({
    code: 'REF_GONE',
    outcome: 'not_executed',
  });
  const file = await agent.failure('click', { ref: await agent.ref('file "File"') });
  expect(file).toMatchObject({ code: 'NEEDS_TRUSTED_INPUT', outcome: 'not_executed' });
  const keys = await agent.failure('press', { keys: 'Control+T' });
  expect(keys).toMatchObject({ code: 'NEEDS_TRUSTED_INPUT', outcome: 'not_executed' });
});

test('dialogs are answered as the call asked, and never block', async ({ at }) => {
  const agent = await at('widgets');
  agent.stage.page.on('dialog', () => {
    throw new Error('a dialog was shown to the person');
  });
  expect(await agent.click('button "Ask"')).toMatchObject({
    changes: expect.stringContaining('kept'),
    dialogs: [{ kind: 'confirm', text: 'Delete it all?', answered: 'dismissed' }],
  });
  expect(await agent.click('button "Ask"', { dialogs: 'accept' })).toMatchObject({
    changes: expect.stringContaining('deleted'),
  });
  expect(await agent.click('button "Prompt"', { dialogs: { text: 'Ada' } })).toMatchObject({
    changes: expect.stringContaining('called Ada'),
  });
  expect(await agent.click('button "Prompt"', { dialogs: 'accept' })).toMatchObject({
    changes: expect.stringContaining('called nobody'),
  });
  const many = await agent.click('button "Many dialogs"');
  expect(many.changes).toContain('all closed');
  expect(many.dialogs).toHaveLength(10);
  expect(many).toMatchObject({ moreDialogs: 990 });
});

test('a page with a draft is left only when the call says so', async ({ at }) => {
  const agent = await at('widgets');
  await agent.fill('textbox "Draft"', 'unsaved');
  const stayed = await agent.click('link "Next page"');
  expect(stayed.dialogs).toMatchObject([{ kind: 'beforeunload', answered: 'stayed' }]);
  expect(agent.stage.page.url()).toBe(`${agent.site}/widgets`);
  const left = await agent.click('link "Next page"', { dialogs: 'accept' });
  expect(left).toMatchObject({ url: `${agent.site}/next`, title: 'The next page' });
  expect(left.page).toContain('h1 "Arrived"');
});

test('new tabs stay behind, and downloads are told', async ({ at }) => {
  const agent = await at('widgets');
  const tab = await agent.click('link "New tab"');
  expect(tab.opened).toMatchObject([{ url: `${agent.site}/next` }]);
  const report = await agent.click('link "Report"');
  expect(report.downloads).toEqual([`${agent.site}/report.csv`]);
  const file = await agent.click('link "Report file"');
  expect(file.downloads).toEqual([`${agent.site}/report.csv`]);
  const pops = await agent.click('button "Pop up"');
  expect(pops.changes).toMatch(/popped up|blocked/);
  expect(pops.opened ?? pops.blockedWindows).toBeDefined();
});

test('hovering, dragging, scrolling and selecting', async ({ at }) => {
  const agent = await at('widgets');
  const drag = async (from: string, to: string, where: string) =>
    agent.do('pointer', { action: 'drag', ref: await agent.ref(from), to: await agent.ref(to), at: where });
  expect(await drag('draggable "One"', 'draggable "Three"', 'after')).toMatchObject({
    changes: expect.stringContaining('One: Two Three One'),
  });
  expect(await drag('draggable "Blue"', 'draggable "Red"', 'before')).toMatchObject({
    changes: expect.stringContaining('Blue Red Green'),
  });
  const feed = await agent.ref('feed "Feed"');
  const scrolled = await agent.do('pointer', { action: 'scroll', ref: feed, to: 'end' });
  expect(scrolled.changes).toContain('Item 9');
  const deep = await agent.click('button "Deep"');
  expect(deep.changes).toContain('deep');
});

test('uploads: one, many, dropped, and what an input does not take', async ({ at }) => {
  const agent = await at('widgets');
  const one = { name: 'note.txt', text: 'a note' };
  const two = { name: 'dot.png', base64: Buffer.from('not really').toString('base64') };
  const give = async (words: string, files: object[]) =>
    agent.do('upload', { ref: await agent.ref(words), files });
  expect((await give('file "File"', [one])).changes).toContain('note.txt (text/plain): a note');
  expect((await give('file "Files"', [one, two])).changes).toContain('dot.png (image/png): not really');
  expect((await give('button "Drop files here"', [one])).changes).toContain('note.txt');
  const file = await agent.ref('file "File"');
  expect(await agent.failure('upload', { ref: file, files: [one, two] })).toMatchObject({
    code: 'VALIDATION_ERROR',
    outcome: 'not_executed',
  });
  const files = await agent.ref('file "Files"');
  const wrong = await agent.failure('upload', { ref: files, files: [{ name: 'a.pdf', text: '' }] });
  expect(wrong.text).toMatch(/takes .txt,image\/\*/);
});

test('keys: shortcuts, typing, and the page without a focus', async ({ at }) => {
  const agent = await at('widgets');
  expect((await agent.do('press', { keys: '?' })).changes).toContain('help');
  expect((await agent.do('press', { keys: 'Control+k' })).changes).toContain('palette');
  const draft = await agent.ref('textbox "Draft"');
  await agent.do('press', { text: 'abc', ref: draft });
  await agent.do('press', { keys: 'Shift+ArrowLeft X' });
  expect(await agent.stage.page.inputValue('#draft')).toBe('abX');
});

test('several steps in one call end at the first that fails', async ({ at }) => {
  const agent = await at('widgets');
  const add = await agent.ref('button "Add one"');
  const off = await agent.ref('button "Off"');
  const done = await agent.agent.call('browser__act', {
    steps: [
      { tool: 'click', ref: add },
      { tool: 'click', ref: add, count: 2 },
    ],
  });
  expect(done.value).toMatchObject({ steps: [{ changes: '~ "1"' }, { outcome: 'executed' }] });
  const failed = await agent.agent.call('browser__act', {
    steps: [
      { tool: 'click', ref: add },
      { tool: 'click', ref: off },
      { tool: 'click', ref: add },
    ],
  });
  expect(failed).toMatchObject({ failed: true, code: 'TARGET_NOT_READY', facts: { outcome: 'executed' } });
  expect(failed.text).toContain('Step 2 of 3 (click) failed');
  expect(failed.texts.at(-1)).toBe(`1. clicked button "Add one" [${add}]\n~ "4"`);
  expect(failed.texts[1]).not.toContain('"done"');
  expect(await agent.stage.page.textContent('#out')).toBe('4');
});

test('what is left of an act that makes the page go elsewhere is not done', async ({
  sharedStage: stage,
  closing,
}) => {
  const agent = new Acting(stage.agent);
  await stage.page.route('**/next', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300)); // a site takes its time
    await route.continue();
  });
  const field = (label: string, attributes: string) => `<label>${label} <input ${attributes}></label>`;
  const site = await openSite(closing, {
    go: `<title>Go</title><form action="next">${field('Query', `oninput="location = 'next'"`)}</form>
      ${field('Other', 'oninput="localStorage.other = this.value"')}`,
    stay: `${field('Mark', `oninput="location = 'empty'"`)}${field('Other', '')}`,
    empty: 204,
    next: `<title>Next</title>${field('First', 'autofocus oninput="localStorage.other = this.value"')}`,
  });
  const open = async () => {
    await visit(stage, `${site}/go`);
    return { query: await agent.ref('textbox "Query"'), other: await agent.ref('textbox "Other"') };
  };
  const left = { outcome: 'executed', url: `${site}/next`, title: 'Next' };
  const { query, other } = await open();
  const fields = [query, other].map((ref) => ({ ref, value: 'abc' }));
  const filled = await agent.do('fill', { fields });
  expect(filled).toMatchObject({ ...left, notDone: 1, filled: [{ value: 'abc', verified: true }] });
  expect(await agent.do('press', { ref: (await open()).query, keys: 'a Tab b c' })).toMatchObject({
    ...left,
    notDone: 3,
  });
  expect(await stage.page.evaluate(() => localStorage.length)).toBe(0);
  await visit(stage, `${site}/stay`);
  const mark = { ref: await agent.ref('textbox "Mark"'), value: 'abc' };
  const stayed = await agent.do('fill', {
    fields: [mark, { ref: await agent.ref('textbox "Other"'), value: 'x' }],
  });
  expect(stayed).toMatchObject({ notDone: 1, filled: [{ value: 'abc' }] });
  expect(stayed.note).toContain('can be done with another call');
});

test('a password field always asks the person, and is never told', async ({ at }) => {
  const agent = await at('sign-in');
  const { relay, page } = agent.stage;
  const fields = [
    { ref: await agent.ref('textbox "User"'), value: 'ada' },
    { ref: await agent.ref('password "Password"'), value: 'hunter2-secret' },
  ];
  const asked = async (): Promise<string> => relay.tabrelay('permit', 'pending', '--json');
  const answer = async (word: 'allow' | 'deny') => {
    await expect.poll(asked).toContain('Fill in \\"Password\\": ••••');
    const id = /"id": ?"([^"]+)"/.exec(await asked())?.[1] ?? '';
    await relay.person('permit', word, id);
  };
  for (const word of ['deny', 'allow', 'deny'] as const) {
    const before = await page.inputValue('#password');
    const call = agent.agent.call('browser__fill', { fields });
    await answer(word);
    const said = await call;
    expect(said.failed, said.text).toBe(word === 'deny');
    expect(JSON.stringify(said.texts)).not.toContain('hunter2');
    expect(await page.inputValue('#password')).toBe(word === 'allow' ? 'hunter2-secret' : before);
  }
  const audit = await relay.tabrelay('audit', '--json');
  expect(audit).not.toContain('hunter2');
  expect(audit).toContain('Fill in \\"User\\": \\"ada\\"; Fill in \\"Password\\": ••••');
  for (const name of await readdir(relay.home))
    if (/\.db|-wal$|log$/.test(name))
      expect((await readFile(path.join(relay.home, name))).includes('hunter2'), name).toBe(false);
});

test('a page behind another one is used as quickly, and its long lists go on', async ({ at, closing }) => {
  const { stage, agent } = await at('widgets');
  const rows = `<title>Rows</title><ul><li draggable="true">A card</li></ul>
    <button onclick="this.textContent = 'Pressed ' + ++n">Press</button>
    <div id="list" role="list" aria-label="Rows" style="height: 90px; overflow: auto; position: relative">
      <div id="room" style="height: 30000px"></div></div>
    <script>
      let n = 0;
      const row = (at) => '<p style="position: absolute; top: ' + at * 30 + 'px"><button>Row ' + at + '</button></p>';
      list.onscroll = () => { room.innerHTML = row(list.scrollTop / 30) + row(list.scrollTop / 30 + 1); };
      list.onscroll();
    </script>`;
  const site = await openSite(closing, { rows });
  await agent.call('browser__open_tab', { url: `${site}/rows` });
  const hidden = new Acting(stage.agent);
  expect(await hidden.look()).toContain('listitem "A card" [');
  const ref = await hidden.ref('button "Press"');
  const from = performance.now();
  for (let n = 1; n <= 5; n++)
    expect((await hidden.do('click', { ref })).changes).toContain(`button "Pressed ${n}"`);
  // The page's own timers go off once a second: an act that waited by them would take several of them.
  expect(performance.now() - from).toBeLessThan(5000);
  const list = await hidden.ref('list "Rows"');
  const scrolled = await hidden.do('pointer', { action: 'scroll', ref: list, at: { y: 3000 } });
  expect(scrolled).toMatchObject({ changes: expect.stringContaining('button "Row 100"') });
  expect(scrolled.noEffect).toBeUndefined();
});
