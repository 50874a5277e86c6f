// Widgets as libraries of components build them: boxes that draw their control, and lists beside them.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import shared, { expect, visit } from '../stage/test.ts';

const test = shared.extend<{ open: (body: string) => Promise<Acting> }>({
  /** Opens a page that is a body, for an agent to act in. */
  open: async ({ keptStage: stage, closing }, use) => {
    await use(async (body) => {
      const page = `<!doctype html><meta charset="utf-8"><title>Components</title>${body}`;
      await visit(stage, `${await openSite(closing, { page, save: '{}' })}/page`);
      return new Acting(stage.agent);
    });
  },
});

const hiddenField = `<style>.box { position: relative; width: 200px; height: 30px } li { height: 20px }
    .keys { position: absolute; z-index: -1; opacity: 0; width: 60px }
    .dot { position: absolute; width: 1px; height: 1px;
    overflow: hidden; clip: rect(0 0 0 0) } #pop { position: fixed; inset: 0; background: white }</style>
  <div class="box" id="box"><div class="keys"><input role="combobox" id="field" readonly aria-label="Fruit"
    aria-expanded="false" aria-controls="list"></div><div id="shown">Pick</div></div>
  <ul role="listbox" id="list" hidden><li role="option">Apple<li role="option">Pear</ul>
  <p id="stars">${['One', 'Two']
    .map(
      (name) => `<span style="position: relative" onclick="stars.dataset.is = this.textContent.trim()">
      <span class="dot"><input type="radio" aria-label="${name}"></span><svg width="20" height="20"></svg>
      ${name}</span>`,
    )
    .join('')}</p><div id="pop" hidden>Wait</div><button onclick="pop.hidden = false">Lock</button>
  <script>
    box.onclick = () => { list.hidden = !list.hidden; field.ariaExpanded = String(!list.hidden); };
    for (const one of list.children) one.onclick = () => {
      shown.textContent = one.textContent;
      list.hidden = true;
      field.ariaExpanded = 'false';
    };
  </script>`;

test('a box that is drawn in place of its control is pressed for it', async ({ open, keptStage: stage }) => {
  const agent = await open(hiddenField);
  expect(await agent.fill('combobox "Fruit"', 'Pear')).toMatchObject({ value: 'Pear', verified: true });
  await expect(stage.page.locator('#shown')).toHaveText('Pear');
  await agent.click('radio "Two"');
  await expect(stage.page.locator('#stars')).toHaveAttribute('data-is', 'Two');
  const [fruit, star] = [await agent.ref('combobox "Fruit"'), await agent.ref('radio "One"')];
  await agent.click('button "Lock"');
  for (const ref of [fruit, star])
    expect(await agent.failure('click', { ref })).toMatchObject({ code: 'TARGET_COVERED' });
});

test('what a page puts off until the end of an event is done before the next one', async ({ open }) => {
  const agent =
    await open(`<div role="menu"><div role="menuitem" id="item">Rename</div></div><p id="did"></p><script>
    let at;
    item.onpointermove = () => queueMicrotask(() => { at = 'renamed'; });
    item.onclick = () => { did.textContent = at ?? 'nothing'; };</script>`);
  expect((await agent.click('menuitem "Rename"')).changes).toContain('"renamed"');
});

test('what a page puts off to a task of its own when it is pressed is done before the click', async ({
  open,
}) => {
  const agent =
    await open(`<div role="menu"><div role="menuitem" id="item">Copy</div></div><p id="did"></p><script>
    const later = new MessageChannel(); // as React draws what a menu's own state machine has set
    let chosen;
    later.port1.onmessage = () => { chosen = 'copied'; };
    item.onpointerdown = () => later.port2.postMessage('');
    item.onclick = () => { did.textContent = chosen ?? 'nothing'; };</script>`);
  expect((await agent.click('menuitem "Copy"')).changes).toContain('"copied"');
});

test('an item of a menu that its link fills is pressed there', async ({ open }) => {
  const agent =
    await open(`<ul role="menubar"><li role="menuitem" aria-label="File" aria-expanded="false" id="item">
      <a href="#" tabindex="-1" style="display: block">File</a><ul role="menu" id="sub" hidden>
      <li role="menuitem"><a href="#">New</a></ul></ul><script>
    item.querySelector('a').onclick = () => { sub.hidden = false; item.ariaExpanded = 'true'; };</script>`);
  expect((await agent.click('menuitem "File"')).changes).toContain('"New"');
});

test('a box without words that makes a small control larger is pressed for it', async ({ open }) => {
  const over = 'position: absolute; inset: -5px';
  const agent =
    await open(`<div style="position: relative; width: 90px; margin: 20px"><div tabindex="0" role="combobox"
      aria-label="Per page" aria-expanded="false" id="size">10</div>
      <div style="${over}; cursor: pointer" onclick="size.ariaExpanded = 'true'"></div></div>
    <div style="position: relative; width: 90px"><div tabindex="0" role="combobox" aria-label="Busy">1</div>
      <div style="${over}"></div></div>`);
  expect((await agent.click('combobox "Per page"')).changes).toContain('expanded');
  const ref = await agent.ref('combobox "Busy"');
  expect(await agent.failure('click', { ref })).toMatchObject({ code: 'TARGET_COVERED' });
});

test('a field that a dot cuts off is filled by its box, and its hidden list is not told', async ({
  open,
}) => {
  const agent =
    await open(`<style>.dot { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0 0 0 0) }
      </style><label for="in">Fruit</label><div id="box" style="position: relative; width: 90px; height: 30px">
      <div class="dot"><input id="in" readonly aria-haspopup="listbox"></div>
      <div class="dot"><select tabindex="-1"><option>Pick</select></div><span id="shown">Pick</span></div>
      <ul role="listbox" id="l" hidden><li role="option">Apple<li role="option">Pear</ul><script>
    box.onclick = () => { l.hidden = false; };
    for (const one of l.children) one.onclick = () => {
      shown.textContent = document.getElementById('in').value = one.textContent;
      l.hidden = true;
    };</script>`);
  expect(await agent.look()).not.toContain('combobox');
  expect(await agent.fill('textbox "Fruit"', 'Pear')).toMatchObject({ value: 'Pear', verified: true });
});

test('a menu that opens under the pointer is not closed again by the click', async ({ open }) => {
  const agent =
    await open(`<ul role="menu" style="width: 90px"><li role="menuitem" aria-expanded="false" id="item">Export
      <ul role="menu" id="sub" hidden><li role="menuitem">PDF</ul></ul><script>
    const show = (now) => { sub.hidden = !now; item.ariaExpanded = String(now); };
    item.onmouseenter = () => show(true);
    item.onclick = () => show(sub.hidden);</script>`);
  const opened = await agent.click('menuitem "Export"');
  expect(opened.changes).toContain('menuitem "PDF"');
  expect(opened.note).toContain('opened under the pointer');
});

test('a field that opens a calendar is typed in at once', async ({ open }) => {
  const agent =
    await open(`<input role="combobox" aria-haspopup="dialog" aria-expanded="false" aria-label="Day">
    <input role="combobox" aria-haspopup="dialog" aria-expanded="false" aria-label="Days" readonly>`);
  expect(await agent.fill('combobox "Day"', '2026-03-12')).toMatchObject({
    value: '2026-03-12',
    verified: true,
  });
  const fields = [{ ref: await agent.ref('combobox "Days"'), value: '2026-03-12' }];
  expect(await agent.failure('fill', { fields })).toMatchObject({ code: 'VALIDATION_ERROR' });
});

const chips = `<style>ul { margin: 0 } #other { display: block }</style>
  <div><span id="chips"></span><input id="box" role="combobox" aria-expanded="false" aria-controls="list"
    aria-autocomplete="list" aria-label="Many"></div>
  <div style="position: relative"><ul role="listbox" aria-multiselectable="true" id="list" hidden
    style="position: absolute; background: white; width: 300px">
    <li role="option" id="o1">Apple<li role="option" id="o2">Pear</ul></div><button id="other">Other</button><script>
    const show = (now) => { list.hidden = !now; box.ariaExpanded = String(now); };
    box.onclick = () => show(true);
    box.onkeydown = ({ key }) => { if (key === 'Escape') show(false); };
    for (const one of list.children) one.onclick = () => {
      one.ariaSelected = 'true';
      box.setAttribute('aria-activedescendant', one.id);
      box.value = '';
    };</script>`;

test('several are chosen in a box that shows them in its list alone, which is closed then', async ({
  open,
}) => {
  const agent = await open(chips);
  expect(await agent.fill('combobox "Many"', ['Apple', 'Pear'])).toMatchObject({
    value: ['Apple', 'Pear'],
    verified: true,
  });
  expect((await agent.click('button "Other"')).outcome).toBe('executed');
});

test('an option that heeds no click is not said to be chosen, nor the one a field stands in', async ({
  open,
}) => {
  const agent =
    await open(`<input id="box" role="combobox" aria-expanded="false" aria-controls="l" aria-label="Deaf"
    oninput="l.hidden = false; this.ariaExpanded = 'true'"><ul role="listbox" id="l" hidden><li role="option">Apple
    </ul><ul role="listbox"><li role="option"><input role="combobox" aria-expanded="true" aria-label="Alone"></ul>`);
  expect(await agent.fill('combobox "Deaf"', 'Apple')).toMatchObject({ value: 'Apple', verified: false });
  expect(await agent.fill('combobox "Alone"', 'Pear')).toMatchObject({ value: 'Pear', verified: false });
});

test('an item of a tree is chosen, and a box tells what it shows, not its list', async ({ open }) => {
  const agent = await open(`<style>[role=group] { height: 60px }</style>
    <div role="combobox" tabindex="0" aria-haspopup="tree" aria-expanded="false" aria-label="Node" id="box">
    <b id="shown">None</b><div role="listbox" hidden id="own"><div role="option">Loose</div></div></div>
    <ul role="tree" id="tree" hidden><li role="treeitem"><span>Docs</span><ul role="group">
    <li role="treeitem"><span>Plans</span></ul></ul><script>
    const show = (now) => { tree.hidden = !now; own.hidden = !now; box.ariaExpanded = String(now); };
    box.onclick = () => show(tree.hidden);
    for (const one of document.querySelectorAll('span')) one.onclick = () => {
      shown.textContent = one.textContent;
      show(false);
    };</script>`);
  expect(await agent.fill('combobox "Node"', 'Docs')).toMatchObject({ value: 'Docs', verified: true });
});

test('words in a box of their own are sent as they are, whatever it offers', async ({ open }) => {
  const options = '<ul role="listbox" id="l"><li role="option">cat food<li role="option">cat names</ul>';
  const agent = await open(`<form onsubmit="event.preventDefault(); sent.textContent = 'sent ' + q.value">
    <input id="q" role="combobox" aria-autocomplete="list" aria-controls="l" aria-expanded="true"
    aria-label="Find">${options}</form><p id="sent"></p>`);
  const fields = [{ ref: await agent.ref('combobox "Find"'), value: 'cat' }];
  const sent = await agent.do('fill', { fields, submit: true });
  expect(sent.changes).toContain('sent cat');
  expect(sent.filled).toMatchObject([{ value: 'cat', verified: false }]);
});

test('files go to the hidden input beside a button, though the page takes drops', async ({
  open,
  keptStage,
}) => {
  const agent =
    await open(`<div><div><button type="button">Attach</button></div><input type="file" hidden id="in"></div>
    <div><button type="button">First</button><input type="file" hidden><input type="file" hidden></div><script>
    document.addEventListener('dragover', (event) => event.preventDefault());</script>`);
  const files = [{ name: 'a.txt', text: 'a' }];
  const given = await agent.do('upload', { ref: await agent.ref('button "Attach"'), files });
  expect(given.files).toEqual([{ name: 'a.txt', size: 1 }]);
  expect(await keptStage.page.locator('#in').evaluate((one: HTMLInputElement) => one.files?.length)).toBe(1);
});

test('a drawn slider takes the focus, and selected text is an effect', async ({ open }) => {
  const agent =
    await open(`<svg id="s" role="slider" tabindex="0" aria-label="Knob" aria-valuenow="2" width="50"
    height="50"><circle r="20" cx="25" cy="25"></circle></svg><p>some words</p><script>
    s.onkeydown = ({ key }) => s.setAttribute('aria-valuenow', Number(s.getAttribute('aria-valuenow')) +
      (key === 'ArrowRight' ? 1 : -1));</script>`);
  expect(await agent.fill('slider "Knob"', 5)).toMatchObject({ value: 5, verified: true });
  const found = (await agent.agent.call('browser__find', { text: 'some words' })).text;
  const selected = await agent.do('pointer', { action: 'select', ref: /\[(e\d+)\]/.exec(found)?.[1] });
  expect(selected).toMatchObject({ selected: 'some words' });
  expect(selected.noEffect).toBeUndefined();
});

test('an option is chosen by the box to check in it, and a field of another role stays one', async ({
  open,
}) => {
  const agent =
    await open(`<div role="combobox" tabindex="0" aria-label="Many" aria-expanded="true" aria-controls="l">2
    </div><div role="listbox" id="l"><div role="option" aria-selected="false" id="one"><input type="checkbox" id="box">
    Apple</div></div><input role="alert" aria-label="Count">
    <div role="spinbutton" tabindex="0" aria-label="Hour" id="h">--</div><script>
    one.onclick = ({ target }) => { if (target !== box) box.checked = !box.checked; };
    h.onkeydown = ({ key }) => {
      const next = Number(h.ariaValueNow ?? 11) + (key === 'ArrowRight' ? 0 : 10);
      h.ariaValueNow = (next % 12) + 1;
    };</script>`);
  expect(await agent.fill('combobox "Many"', 'Apple')).toMatchObject({ verified: true });
  expect(await agent.fill('textbox "Count"', '3')).toMatchObject({ value: '3', verified: true });
  expect(await agent.fill('spinbutton "Hour"', 8)).toMatchObject({ value: 8, verified: true });
});

test('components have the labels of their one field, and each of those that the keys go through', async ({
  open,
}) => {
  const agent = await open(`<label>Agree <x-check></x-check></label><x-tab tabindex="0">One</x-tab>
    <x-tab tabindex="-1" id="two">Two</x-tab><script>
    customElements.define('x-check', class extends HTMLElement {
      static formAssociated = true;
      constructor() { super().attachShadow({ mode: 'open' }).innerHTML = '<input type="checkbox">'; }
    });
    two.addEventListener('click', () => { two.textContent = 'Two is here'; });</script>`);
  expect(await agent.fill('checkbox "Agree"', true)).toMatchObject({ verified: true });
  expect((await agent.click('clickable "Two"')).changes).toContain('Two is here');
});

test('a control that is cut off is pressed by its label, also where that lies over it', async ({ open }) => {
  const agent =
    await open(`<style>input { position: absolute; clip: rect(0 0 0 0); pointer-events: none }</style>
    <input type="checkbox" id="b"><label for="b" style="padding: 9px">Bold</label>
    <input type="radio" name="r" id="l"><label for="l">Left</label><input type="radio" name="r" id="r"
    ><label for="r">Right</label><input type="checkbox" id="seen" style="clip: auto; position: static"
    ><label for="seen" style="position: relative; left: -20px; background: white">Covered</label>`);
  for (const words of ['checkbox "Bold"', 'radio "Left"', 'radio "Right"', 'checkbox "Covered"'])
    expect(await agent.fill(words, true), words).toMatchObject({ verified: true });
});

test('a box around a combobox that says the same of itself is told once', async ({ open }) => {
  const agent = await open(`<div role="combobox" aria-expanded="false"><label for="in">City</label>
    <input id="in" role="combobox" aria-expanded="false"></div>`);
  expect((await agent.look()).match(/combobox/g)).toHaveLength(1);
});

test('what is drawn anew under the pointer gets the click, and what is locked gets none', async ({
  open,
}) => {
  const agent = await open(`<style>i { display: block; width: 60px; height: 40px }</style>
    <button id="like" aria-label="Like"><i>o</i></button><div onclick="did.textContent = 'opened'">Gift
    <div style="pointer-events: none"><label><input type="checkbox"> Wrap</label></div></div><p id="did"></p><script>
    like.onmouseenter = () => queueMicrotask(() => { like.innerHTML = '<i>x</i>'; });
    like.onclick = () => { did.textContent = 'liked'; };</script>`);
  expect((await agent.click('button "Like"')).changes).toContain('liked');
  const ref = await agent.ref('checkbox "Wrap"');
  expect(await agent.failure('click', { ref })).toMatchObject({ code: 'TARGET_COVERED' });
});

test('an element that goes as the pointer comes over it is not said to have been pressed', async ({
  open,
}) => {
  const agent = await open(`<div id="list"><button>One</button></div><script>
    list.onmouseover = () => queueMicrotask(() => { list.innerHTML = '<button>Two</button>'; });</script>`);
  expect((await agent.click('button "One"')).note).toContain('as the pointer came over it: it got no click');
});

test('what a page does as it is pressed is not said to have got no click', async ({ open }) => {
  const agent = await open(
    `<div id="list"><button onfocus="list.innerHTML = '<p>Begun</p>'">Begin</button></div>`,
  );
  const begun = await agent.click('button "Begin"');
  expect(begun.changes).toContain('"Begun"');
  expect(begun.note).toBe(
    'The page answered the press by taking the element away, before a click: see what came of it',
  );
});

test('an option in a dialog is chosen, and no item of a tree that leads elsewhere', async ({ open }) => {
  const agent = await open(`<ul role="tree"><li role="treeitem"><a href="#guides">Guides</a></ul>
    <input role="combobox" aria-expanded="true" aria-label="Search">
    <input role="combobox" aria-haspopup="dialog" aria-expanded="false" aria-controls="pop" id="box" readonly
    aria-label="Country"><div role="dialog" id="pop" hidden><div role="option" id="one">Spain</div></div><script>
    const show = (now) => { pop.hidden = !now; box.ariaExpanded = String(now); };
    box.onclick = () => show(true);
    one.onclick = () => { box.value = one.textContent; show(false); };</script>`);
  expect(await agent.fill('combobox "Country"', 'Spain')).toMatchObject({ value: 'Spain', verified: true });
  expect(await agent.fill('combobox "Search"', 'Guides')).toMatchObject({ value: 'Guides', verified: false });
});

test('the button beside a field for files that is seen stands for it in a form', async ({ open }) => {
  const agent = await open('<form><p><input type="file"> <button type="button">Attach</button></p></form>');
  const files = [{ name: 'a.txt', text: 'a' }];
  const ref = await agent.ref('button "Attach"');
  expect((await agent.do('upload', { ref, files })).files).toMatchObject([{ name: 'a.txt' }]);
});

test('parts of a price go together, and words for nobody stay untold', async ({ open }) => {
  const agent = await open(`<p style="display: flex"><span>$</span><span>12</span><span>.99</span></p>
    <p style="display: flex; gap: 9px"><span>News</span><span>3</span></p>
    <div><i aria-hidden="true">edit</i><textarea style="display: none"></textarea></div>`);
  const page = await agent.look();
  expect(page).toContain('"$12.99"');
  expect(page).toContain('"News 3"');
  expect(page).not.toContain('edit');
});

test('Enter that opens another page, or changes the address, came to something', async ({ open }) => {
  const agent =
    await open(`<input aria-label="Open" onkeydown="if (event.key === 'Enter') window.open('save')">
    <input aria-label="Keep" onkeydown="if (event.key === 'Enter') history.pushState(null, '', '?kept')">`);
  for (const name of ['Open', 'Keep']) {
    const fields = [{ ref: await agent.ref(`textbox "${name}"`), value: 'x' }];
    expect((await agent.do('fill', { fields, submit: true })).note).toBeUndefined();
  }
});

test('a comma in a number is told to be another number where it can be one', async ({ open }) => {
  const agent = await open(`<input lang="de" aria-label="Weight" id="w"><script>
    w.oninput = () => { w.value = w.value.replace(/^(\\d)(\\d{3})$/, '$1,$2'); };</script>`);
  expect(await agent.fill('textbox "Weight"', '1234')).toMatchObject({ value: '1,234', verified: false });
});
