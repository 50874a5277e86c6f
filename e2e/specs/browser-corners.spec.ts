// Corners of pages that people meet without noticing: what closes by itself, what is read from right to left, what has
// no box or no name of its own, and what is only plain words. Each page tells by itself what was really done in it.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import base, { expect, type Stage, visit } from '../stage/test.ts';

type Visitor = Acting & { stage: Stage; says(text: string): Promise<void> };

const test = base.extend<{ on: (body: string) => Promise<Visitor> }>({
  on: async ({ keptStage: stage, closing }, use) => {
    await use(async (body) => {
      const script = '<script>const tell = (...all) => { out.textContent += all.join(" ") + ";"; };</script>';
      const page = `<!doctype html><meta charset="utf-8"><title>Corner</title>${script}${body}<p id="out" hidden></p>`;
      await visit(stage, `${await openSite(closing, { page })}/page`);
      const says = (text: string) => expect.poll(() => stage.page.textContent('#out')).toBe(text);
      return Object.assign(new Acting(stage.agent), { stage, says });
    });
  },
});

const refIn = (text: string): string => /\[(e\d+)\]/.exec(text)?.[1] ?? '';
const found = async (agent: Visitor, text: string) =>
  (await agent.agent.call('browser__find', { text })).text;

test('a popover closes at Escape and at a press elsewhere, one that only its button closes stays', async ({
  on,
}) => {
  const agent = await on(`<button popovertarget="p">More</button><button popovertarget="m">Help</button>
    <button onclick="d.showModal()">Ask</button><div popover id="p">Details</div>
    <div popover="manual" id="m">Manual <button popovertarget="m">Close</button></div>
    <dialog id="d" aria-label="Sure"><button popovertarget="q">Why</button><div popover id="q">Because</div></dialog>`);
  const more = await agent.ref('button "More"');
  await agent.do('click', { ref: more });
  expect((await agent.do('click', { ref: more })).changes).toContain('- "Details"');
  await agent.do('click', { ref: more });
  const help = (await agent.click('button "Help"')).changes;
  expect(help).toContain('- "Details"');
  expect(await agent.do('press', { keys: 'Escape' })).toMatchObject({ noEffect: true });
  expect((await agent.click('button "Close"')).changes).toContain('- "Manual"');
  await agent.click('button "Ask"');
  await agent.click('button "Why"');
  expect((await agent.do('press', { keys: 'Escape' })).changes).toContain(
    'dialog "Sure" modal: button "Why"',
  );
  expect((await agent.do('press', { keys: 'Escape' })).changes).toContain('- dialog "Sure"');
});

test('every character is typed, and keys lead where they do in a page that is read from right to left', async ({
  on,
}) => {
  const agent = await on(`<div dir="rtl"><label>שם <input oninput="value === 'か😀𠮷' && tell(value)"></label>
    <input type="range" aria-label="R" max="10" value="5" onchange="tell(value)">
    <div role="slider" tabindex="0" aria-label="S" aria-valuemin="0" aria-valuemax="9" aria-valuenow="5" id="s">s</div>
    </div><script>s.onkeydown = ({ key }) => { const by = { ArrowLeft: 1, ArrowRight: -1 }[key] ?? 0;
      s.setAttribute('aria-valuenow', +s.getAttribute('aria-valuenow') + by); };</script>`);
  await agent.do('press', { ref: await agent.ref('textbox "שם"'), text: 'か😀𠮷' });
  await agent.do('press', { ref: await agent.ref('slider "R"'), keys: 'ArrowLeft' });
  await agent.says('か😀𠮷;6;');
  expect(await agent.fill('slider "S"', 8)).toMatchObject({ value: 8, verified: true });
  expect(await agent.fill('slider "S"', 2)).toMatchObject({ value: 2, verified: true });
});

test('what has no box of its own, days that only take the focus, and a field behind its box', async ({
  on,
}) => {
  const agent = await on(`<form style="display: contents" onsubmit="event.preventDefault(); tell('sent')">
      <button style="display: contents">Send</button></form>
    <table role="grid"><tr><td role="gridcell" tabindex="-1">21</td>
      <td role="gridcell" tabindex="-1">22</td></tr></table>
    <div id="box" style="position: relative; z-index: 0; width: 200px; height: 30px; background: #eee">
      <input role="combobox" aria-label="Fruit" aria-expanded="false" aria-controls="list" readonly
        style="position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; z-index: -1; border: 0;
        padding: 0"></div>
    <div role="listbox" id="list" hidden><div role="option">Apple</div><div role="option">Pear</div></div>
    <script>onpointerdown = ({ target }) => { if (target.closest('td')) tell(target.textContent); };
      box.onmousedown = () => { list.hidden = false; box.firstElementChild.ariaExpanded = 'true'; };
      list.onclick = ({ target }) => { box.firstElementChild.value = target.textContent; list.hidden = true;
        box.firstElementChild.ariaExpanded = 'false'; };</script>`);
  await agent.click('button "Send"');
  await agent.click('gridcell "22"');
  await agent.says('sent;22;');
  expect(await agent.fill('combobox "Fruit"', 'Pear')).toMatchObject({ value: 'Pear', verified: true });
  expect(
    (await agent.failure('fill', { fields: [{ ref: await agent.ref('gridcell "21"'), value: 'x' }] })).code,
  ).toBe('VALIDATION_ERROR');
});

test('options that stand in shadow roots of their own', async ({ on }) => {
  const agent = await on(`<my-select></my-select><script>
    customElements.define('my-option', class extends HTMLElement { constructor() { super();
      this.attachShadow({ mode: 'open' }).innerHTML = '<li role="option"><slot></slot></li>'; } });
    customElements.define('my-select', class extends HTMLElement { constructor() { super();
      const root = this.attachShadow({ mode: 'open' });
      root.innerHTML = '<div role="combobox" tabindex="0" aria-label="Size" aria-controls="l" aria-expanded="false">' +
        'Choose</div><ul role="listbox" id="l" hidden><my-option>Small</my-option><my-option>Large</my-option></ul>';
      const [box, list] = root.children;
      const open = (now) => { list.hidden = !now; box.setAttribute('aria-expanded', now); };
      box.onclick = () => open(list.hidden);
      list.onclick = ({ target }) => { box.textContent = target.textContent; open(false); }; } });</script>`);
  expect(await agent.fill('combobox "Size"', 'Large')).toMatchObject({ value: 'Large', verified: true });
});

test('what a field sets apart it holds; what it makes another number of, or never offers, it does not', async ({
  on,
}) => {
  const agent =
    await on(`<label>Card <input oninput="value = value.replace(/(\\d{4})(?=\\d)/g, '$1 ')"></label>
    <label>Cents <input oninput="value = value.replace(/(\\d\\d)$/, '.$1')"></label>
    <label>Price <input oninput="value = value.replace(/(\\d)(?=(\\d{3})+(?!\\d))/g, '$1,')"></label>
    <label>Debt <input oninput="value = '-' + value"></label>
    <label>City <input role="combobox" aria-autocomplete="list" aria-expanded="false"></label>
    <div role="search"><label>Words <input role="combobox" aria-autocomplete="list" aria-expanded="false"></label></div>
    <label>Day <input readonly></label>`);
  expect(await agent.fill('textbox "Card"', '4111111111111111')).toMatchObject({
    value: '4111 1111 1111 1111',
    verified: true,
  });
  expect(await agent.fill('textbox "Cents"', '1234')).toMatchObject({ value: '12.34', verified: false });
  expect(await agent.fill('textbox "Price"', '1234567')).toMatchObject({
    value: '1,234,567',
    verified: true,
  });
  expect(await agent.fill('textbox "Debt"', '5')).toMatchObject({ value: '-5', verified: false });
  expect(await agent.fill('combobox "City"', 'Rome')).toMatchObject({ value: 'Rome', verified: false });
  expect(await agent.fill('combobox "Words"', 'Rome')).toMatchObject({ value: 'Rome', verified: true });
  const day = await agent.failure('fill', {
    fields: [{ ref: await agent.ref('textbox "Day"'), value: '1' }],
  });
  expect(day.hint).toContain('Click it');
});

test('plain words are found, dragged and hovered over, and another order is told', async ({ on }) => {
  const agent = await on(`<style>li button { display: none } li:hover button { display: inline }</style>
    <ul><li>Apple <button onclick="tell('gone')">Delete</button></li></ul><ol id="s"><li>one<li>two<li>three</ol>
    <script>let held; s.onpointerdown = ({ target }) => { held = target; };
      onpointermove = ({ target, clientY }) => { const over = held && target.closest?.('#s li');
        if (!over || over === held) return; const { top, height } = over.getBoundingClientRect();
        over[clientY > top + height / 2 ? 'after' : 'before'](held); };
      onpointerup = () => { if (held) tell(...Array.from(s.children, (li) => li.textContent.trim())); held = null; };
    </script>`);
  await agent.look();
  const drag = { action: 'drag', ref: refIn(await found(agent, 'three')), at: 'before' };
  const dragged = await agent.do('pointer', { ...drag, to: refIn(await found(agent, 'one')) });
  expect(dragged.noEffect).toBeUndefined();
  expect(dragged.changes).toMatch(/^~ "three" \(now after "Apple"\)$/);
  expect((await agent.look()).trim()).toBe('unchanged');
  const waiting = await found(agent, 'Delete');
  expect(waiting).toMatch(/^button "Delete" on hover over text \[e\d+\]: "Apple"$/m);
  await agent.do('pointer', { action: 'hover', ref: refIn(waiting) });
  await agent.click('button "Delete"');
  await agent.says('three one two;gone;');
});

test('what comes late after an act is told once, and so is what a later act changes', async ({ on }) => {
  const agent =
    await on(`<button onclick="mark.hidden = false">Act</button><button onclick="b.textContent = 'other'">
    Other</button><p id="mark" hidden>done</p><p id="a">calm</p><p id="b">start</p>`);
  const other = await agent.ref('button "Other"');
  expect((await agent.click('button "Act"')).changes).toBe(`+ "done" (after ${other})`);
  await agent.look();
  await agent.stage.page.evaluate(() => {
    const late = document.getElementById('a');
    if (late !== null) late.textContent = 'late';
  });
  expect((await agent.do('click', { ref: other })).changes).toBe('~ "other"');
  expect((await agent.look()).trim()).toBe('changed:\n~ "late"');
  expect((await agent.look()).trim()).toBe('unchanged');
});

test('what an act adds is told once while the page goes on without a line being different', async ({
  on,
}) => {
  const agent = await on(`<button onclick="add()">Add</button><ul id="list"></ul><script>
    function add() {
      list.appendChild(document.createElement('li')).textContent = 'one more';
      let times = 0;
      const again = setInterval(() => { list.title = ++times; if (times > 10) clearInterval(again); }, 42);
    }</script>`);
  const ref = await agent.ref('button "Add"');
  for (let n = 0; n < 8; n++) {
    expect((await agent.do('click', { ref })).changes).toMatch(/^\+ /);
    expect((await agent.look()).trim()).toBe('unchanged');
  }
});

test('keys for what cannot have the focus go nowhere else, and a label of a password is the password', async ({
  on,
}) => {
  const agent =
    await on(`<form onsubmit="event.preventDefault(); tell('sent')"><input id="name" aria-label="Name">
    <label for="secret">Password</label><input id="secret" type="password"><label for="secret">(required)</label></form>
    <div onclick="tell('pressed')">Apply</div><div contenteditable aria-label="Notes"><p>First</p></div>
    <div role="listbox" tabindex="0" aria-label="Choices" onkeydown="tell(event.key)">
      <div role="option">Second</div></div>`);
  const { page } = agent.stage;
  const apply = await agent.ref('clickable "Apply"');
  for (const [focused, given] of [
    ['#secret', { text: 'abc' }],
    ['#name', { keys: 'Enter' }],
  ] as const) {
    await page.focus(focused);
    const refused = await agent.failure('press', { ref: apply, ...given });
    expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', outcome: 'not_executed' });
    expect(refused.text).toContain('cannot have the focus');
  }
  expect(await page.inputValue('#secret')).toBe('');
  const seen = (await agent.agent.call('browser__find', { text: '(required)' })).text;
  const label = /text \[(e\d+)\]: "\(required\)"/.exec(seen)?.[1];
  expect(label, seen).toBeDefined();
  const call = agent.agent.call('browser__fill', { fields: [{ ref: label, value: 'hunter2-secret' }] });
  const asked = () => agent.stage.relay.tabrelay('permit', 'pending', '--json');
  await expect.poll(asked).toContain('••••');
  const id = /"id": ?"([^"]+)"/.exec(await asked())?.[1] ?? '';
  await agent.stage.relay.person('permit', 'deny', id);
  expect((await call).code).toBe('APPROVAL_DENIED');
  expect(await page.inputValue('#secret')).toBe('');
  await page.evaluate(() => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  });
  const nowhere = await agent.failure('press', { ref: apply, text: 'abc' });
  expect(nowhere).toMatchObject({ code: 'VALIDATION_ERROR', outcome: 'not_executed' });
  await page.focus('[role=listbox]');
  await agent.do('press', { ref: await agent.ref('option "Second"'), keys: 'ArrowDown' });
  await agent.says('ArrowDown;');
  await agent.do('press', { ref: await agent.ref('textbox "Notes"'), text: ' line' });
  await expect(page.locator('[contenteditable]')).toHaveText('First line');
});

test('nothing is done in a row that shows another one than was told', async ({ on }) => {
  const agent =
    await on(`<div id="v" style="height: 120px; overflow: auto"><div id="all" style="height: 40000px;
    position: relative"></div></div><script>
    const rows = Array.from({ length: 5 }, () => { const row = document.createElement('div');
      row.innerHTML = '<span></span> <button>Delete</button>'; row.lastChild.onclick = () => tell(row.textContent);
      all.append(row); return row; });
    (v.onscroll = () => rows.forEach((row, n) => { const at = Math.floor(v.scrollTop / 40) + n;
      row.style.cssText = 'position: absolute; height: 40px; top: ' + at * 40 + 'px';
      row.firstChild.textContent = 'Row ' + at; }))();</script>`);
  const second = /"Row 1"\s+button "Delete" \[(e\d+)\]/.exec(await agent.look())?.[1];
  const down = { tool: 'pointer', action: 'scroll', ref: second, at: { y: 400 } };
  const steps = await agent.failure('act', { steps: [down, { tool: 'click', ref: second }] });
  expect(steps).toMatchObject({ code: 'REF_GONE', outcome: 'executed' });
  expect(steps.text).toContain('stood in "Row 1 Delete"; the page shows "Row 11 Delete" there now');
  await agent.stage.page.evaluate(() => document.getElementById('v')?.scrollTo(0, 800));
  await expect.poll(() => agent.stage.page.textContent('#all')).toContain('Row 21');
  const moved = await agent.failure('click', { ref: second });
  expect(moved).toMatchObject({ code: 'REF_GONE', outcome: 'not_executed' });
  expect(await agent.look()).toContain('"Row 21"');
  await agent.do('click', { ref: second });
  await agent.says('Row 21 Delete;');
});
