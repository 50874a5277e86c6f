// Widgets as libraries build them, and what is said of acts that no line of the page answers.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';
import shared, { expect, type Stage, visit } from '../stage/test.ts';

/** Opens a page that is a body, for an agent to act in. */
type Open = (body: string) => Promise<Acting>;

const openOn =
  (stage: Stage, closing: Closing): Open =>
  async (body) => {
    const page = `<!doctype html><meta charset="utf-8"><title>Widgets</title>${body}`;
    await visit(stage, `${await openSite(closing, { page, save: '{}' })}/page`);
    return new Acting(stage.agent);
  };

const test = shared.extend<{ open: Open; openInNewTab: Open }>({
  open: ({ keptStage, closing }, use) => use(openOn(keptStage, closing)),
  openInNewTab: ({ sharedStage, closing }, use) => use(openOn(sharedStage, closing)),
});

/** A server that takes requests and answers none. */
async function silentServer(closing: Closing): Promise<string> {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${portOf(server.address())}`;
}

test('what an act does that no line shows is told all the same', async ({ open, closing }) => {
  const hangs = await silentServer(closing);
  const agent = await open(`<button>Dead</button>
    <button onclick="fetch('/save', { method: 'POST' })">Like</button>
    <button onclick="fetch('/save')">Look up</button>
    <button onclick="fetch('${hangs}/save', { method: 'POST', mode: 'no-cors' })">Slow</button>
    <button onclick="fetch('${hangs}/list', { mode: 'no-cors' })">Load</button>
    <button onclick="this.className = 'liked'">Heart</button>
    <button onclick="mark.dataset.on = 1; setTimeout(() => { mark.hidden = false }, 200)">Late</button>
    <p id="mark" hidden>came late</p>
    <i id="spinner">~</i><script>setInterval(() => { spinner.style.rotate = Math.random() + 'turn' }, 10)</script>`);
  expect((await agent.click('button "Dead"')).noEffect).toBe(true);
  const liked = await agent.click('button "Like"');
  expect(liked.noEffect).toBeUndefined();
  expect(liked.sent).toEqual([expect.stringMatching(/^POST .*\/save: 200$/)]);
  expect(await agent.click('button "Look up"')).toMatchObject({ noEffect: true });
  expect((await agent.click('button "Slow"')).underWay).toEqual([expect.stringMatching(/^POST .*\/save$/)]);
  const loading = await agent.click('button "Load"');
  expect(loading.noEffect).toBeUndefined();
  expect(loading.underWay).toEqual([expect.stringMatching(/^GET .*\/list$/)]);
  const heart = await agent.click('button "Heart"');
  expect(heart.noEffect).toBeUndefined();
  expect(heart.note).toMatch(/how something looks.*button "Heart" \[e\d+\] \(class none → "liked"\)/);
  expect((await agent.click('button "Late"')).changes).toContain('+ "came late"');
});

test('of what a canvas draws it is not said that nothing happened', async ({ open }) => {
  const agent = await open(
    `<button onclick="c.getContext('2d').fillRect(0, 0, 50, 50)">Draw</button><canvas id="c" width="90"></canvas>`,
  );
  const drawn = await agent.click('button "Draw"');
  expect(drawn.noEffect).toBeUndefined();
  expect(drawn.note).toContain('screenshot');
});

test('what Chrome tells a person of a form that is not sent is told', async ({ open }) => {
  const agent = await open(`<form action="/save"><label>Name <input name="n" required></label>
    <label>Step <input type="number" step="5" name="s"></label><button>Send</button></form>`);
  const ref = await agent.ref('button "Send"');
  for (const _ of [1, 2])
    expect((await agent.do('click', { ref })).note).toMatch(/^Not valid: textbox "Name" .*fill/);
  expect((await agent.fill('spinbutton "Step"', 7)).note).toContain('not valid');
});

test('a form that a custom element keeps from being sent is told to be not valid', async ({ open }) => {
  const agent = await open(`<form action="/save"><town-field></town-field><button>Send</button></form><script>
    customElements.define('town-field', class extends HTMLElement {
      static formAssociated = true;
      constructor() {
        super();
        const shadow = this.attachShadow({ mode: 'closed' });
        shadow.innerHTML = '<input aria-label="Town">';
        this.attachInternals().setValidity({ valueMissing: true }, 'A town is needed', shadow.firstChild);
      }
    });</script>`);
  expect((await agent.click('button "Send"')).note).toMatch(/^Not valid: .*"not valid"$/);
});

const list = (multiple: boolean) => `
  <div id="box" role="combobox" tabindex="0" aria-expanded="false" aria-controls="l" aria-label="Tags">none</div>
  <ul id="l" role="listbox" aria-multiselectable="${multiple}" hidden>
    ${['A', 'B', 'C'].map((one) => `<li role="option" aria-selected="false">${one}</li>`).join('')}</ul>
  <script>
    const open = (now) => { l.hidden = !now; box.ariaExpanded = String(now); };
    box.onmousedown = () => open(l.hidden);
    box.onkeydown = (e) => { if (e.key === 'Escape') open(false); };
    for (const li of l.children) li.onclick = () => {
      const now = li.ariaSelected !== 'true';
      li.ariaSelected = String(now);
      box.textContent = [...l.children].filter((one) => one.ariaSelected === 'true').map((one) => one.textContent)
        .join(', ');
    };
  </script>`;

test('several options are chosen in a box of the page’s own, and none is taken away', async ({
  open,
  keptStage: stage,
}) => {
  const agent = await open(list(true));
  expect(await agent.fill('combobox "Tags"', ['A', 'C'])).toMatchObject({ value: 'A, C', verified: true });
  expect(await agent.fill('combobox "Tags"', ['A', 'B'])).toMatchObject({ value: 'A, B, C', verified: true });
  expect(await stage.page.locator('#l').isHidden()).toBe(true);
});

const drawnTwice = `
  <input id="box" role="combobox" readonly aria-expanded="false" aria-controls="l" aria-label="City">
  <b id="chosen"></b>
  <div id="pop" hidden><div role="listbox" id="l" style="width: 0; height: 0; overflow: hidden">
    <div role="option" aria-label="Paris"></div><div role="option" aria-label="Rome"></div></div>
    <div><div class="row">Paris</div><div class="row">Rome</div></div></div>
  <script>
    box.onmousedown = () => { pop.hidden = false; box.ariaExpanded = 'true'; };
    for (const row of document.querySelectorAll('.row')) row.onclick = () => {
      chosen.textContent = row.textContent;
      pop.hidden = true;
      box.ariaExpanded = 'false';
    };
  </script>`;

test('the option that people see is clicked where the list is for screen readers alone', async ({
  open,
  keptStage: stage,
}) => {
  const agent = await open(drawnTwice);
  expect((await agent.fill('combobox "City"', 'Rome')).verified).toBe(true);
  await expect(stage.page.locator('#chosen')).toHaveText('Rome');
});

test('a box that only keeps Chrome’s passwords away asks nobody, and what is not offered is not chosen', async ({
  open,
}) => {
  const agent =
    await open(`<input role="combobox" autocomplete="new-password" aria-autocomplete="list" aria-expanded="true"
      aria-controls="l" aria-label="Who"><div id="l" role="listbox">No data</div>`);
  const filled = await agent.fill('combobox "Who"', 'Zoe');
  expect(filled).toMatchObject({ value: 'Zoe', verified: false });
  expect(filled.note).toContain('not chosen');
});

test('what stands in something that can be focused is told, and keeps its role', async ({ open }) => {
  const agent = await open(`
    <ul tabindex="0" aria-label="Stars"><li><div role="radio" aria-checked="false" tabindex="0"><b role="img"
      aria-label="one">*</b></div></li></ul>
    <ul tabindex="0" aria-label="Words"><li>plain words</li></ul>
    <div role="combobox" aria-expanded="false" aria-label="Old"><input aria-label="Typed"></div>
    <div style="cursor: pointer; position: relative; height: 20px"><div role="slider" tabindex="0" aria-valuenow="3"
      class="handle" style="background: red; width: 10px; height: 10px"></div></div>
    <a class="trigger">Scripted</a> <a name="top"></a><a id="x">Anchor</a>`);
  const page = await agent.look();
  expect(page).toMatch(/list "Stars" \[e\d+\]\n radio "one" \[e\d+\]/);
  expect(page).toContain('plain words');
  expect(page).toMatch(/textbox "Typed" \[/);
  expect(page).toMatch(/slider "handle" \[e\d+\] = "3"/);
  expect(page).toMatch(/clickable "Scripted" \[/);
  expect(page).not.toMatch(/"Anchor" \[/);
});

test('what is typed goes to the end, and not into fields that take none', async ({ open }) => {
  const agent = await open(
    `<div contenteditable role="textbox" aria-label="Note">begin</div><input type="date" aria-label="Day">`,
  );
  await agent.do('press', { ref: await agent.ref('textbox "Note"'), text: ' end' });
  expect(await agent.look({ full: true })).toContain('= "begin end"');
  const day = await agent.ref('date "Day"');
  expect(await agent.failure('press', { ref: day, text: '11222026' })).toMatchObject({
    code: 'NEEDS_TRUSTED_INPUT',
    outcome: 'not_executed',
  });
});

const suggesting = `<input role="combobox" aria-autocomplete="list" aria-controls="l" aria-expanded="false"
  aria-label="City"><ul id="l" role="listbox" hidden><li role="option">Rome</li>
  <li role="option">Paris</li></ul><script>
  const box = document.querySelector('input');
  const show = () => {
    for (const one of l.children) one.hidden = !one.textContent.startsWith(box.value);
    l.hidden = !Array.from(l.children).some((one) => !one.hidden);
    box.setAttribute('aria-expanded', !l.hidden);
  };
  box.onclick = box.oninput = show;
</script>`;

test('what a box offered no option for is typed, and not said to be chosen', async ({ open }) => {
  const agent = await open(suggesting);
  const filled = await agent.fill('combobox "City"', 'Zagreb');
  expect(filled).toMatchObject({ value: 'Zagreb', verified: false });
  expect(filled.note).toBe('what is offered: "Rome", "Paris": it is typed, not chosen');
});

const takesBack = `<input role="combobox" aria-autocomplete="list" aria-label="City" onblur="this.value = ''">
  <input aria-label="Street">`;

test('a box that takes back what it was typed when it is left is not verified', async ({ open }) => {
  const agent = await open(takesBack);
  const fields = [
    { ref: await agent.ref('combobox "City"'), value: 'Zagreb' },
    { ref: await agent.ref('textbox "Street"'), value: 'Ilica 1' },
  ];
  const { filled } = await agent.do('fill', { fields });
  expect(filled).toEqual([
    expect.objectContaining({ value: '', verified: false, note: 'the page took back what was typed' }),
    expect.objectContaining({ value: 'Ilica 1', verified: true }),
  ]);
});

const disabledThings = `<div role="listbox" aria-label="Size"><div role="option" aria-disabled="true" tabindex="0">
  Large</div></div>
  <form><input required aria-label="Email"><button disabled>Sign up</button></form>
  <button disabled id="never">Never</button><button disabled id="soon">Soon</button>
  <p id="out"></p><script>
  soon.onclick = () => { out.textContent = 'clicked'; };
</script>`;

test('what is disabled fails at once where waiting cannot help, and is waited for where it may', async ({
  open,
  keptStage: stage,
}) => {
  const agent = await open(disabledThings);
  const failing = async (words: string) => agent.failure('click', { ref: await agent.ref(words) });
  const began = performance.now();
  const option = await failing('option "Large"');
  const submit = await failing('button "Sign up"');
  const took = performance.now() - began;
  expect(option).toMatchObject({ code: 'TARGET_NOT_READY', outcome: 'not_executed' });
  expect(option.hint).toContain('Choose another one');
  expect(submit.hint).toMatch(/Fill textbox "Email" \[e\d+\] required first/);
  const { text } = await failing('button "Never"');
  expect(text).toContain('is disabled, and the page did not enable it within 3 s');
  expect(performance.now() - began - took).toBeGreaterThan(took); // the ones before did not wait
  const soon = await agent.ref('button "Soon"');
  await stage.page.evaluate(() =>
    setTimeout(() => document.querySelector('#soon')?.removeAttribute('disabled'), 800),
  );
  expect((await agent.do('click', { ref: soon })).changes).toContain('clicked');
});

// A tab whose button lets the pointer through, and a box whose button is clear and cut off behind its label.
const drawnByOthers = `<x-tab></x-tab><x-box></x-box><output id="out"></output><script>
  const part = (name, inside) => customElements.define(name, class extends HTMLElement {
    connectedCallback() {
      this.attachShadow({ mode: 'open' }).innerHTML = inside;
      this.onclick = () => { out.textContent += name + ';'; };
    }
  });
  part('x-tab', '<style>:host { display: block; padding: 9px } button { pointer-events: none }</style>' +
    '<button role="tab">Two</button>');
  part('x-box', '<style>div { position: relative; width: 200px; height: 40px } button { position: absolute; ' +
    'inset: 0; opacity: 0; clip: rect(0 0 0 0) }</style>' +
    '<label><div>Fruit<button aria-label="Fruit"></button></div></label>');
</script>`;

test('a control that lets the pointer through is used by what is drawn in its place', async ({ open }) => {
  const agent = await open(drawnByOthers);
  expect((await agent.click('tab "Two"')).changes).toBe('+ "x-tab;"');
  expect((await agent.click('button "Fruit"')).changes).toMatch(/x-tab;x-box;(?:x-box;)?"/);
});

test('a field that formats what follows a key is filled at once', async ({ open, keptStage: stage }) => {
  const agent = await open(`<label>Card <input id="card"></label><script>
    let last;
    card.onkeydown = () => { last = card.value; };
    card.oninput = () => { const typed = card.value; card.value = last ?? '';
      if (last.length < typed.length) card.value = typed.replace(/(.{4})(?=.)/g, '$1 '); };
  </script>`);
  expect(await agent.fill('textbox "Card"', '41111111')).toMatchObject({
    value: '4111 1111',
    verified: true,
  });
  expect(await stage.page.locator('#card').inputValue()).toBe('4111 1111');
});

test('a box to check that is drawn by several elements is one thing', async ({ open }) => {
  const agent = await open(`<style>* { cursor: pointer }</style>
    <ul><li><x-box role="switch" tabindex="0" aria-checked="false" aria-label="Wifi"></x-box></li></ul>
    <div><button>Save</button></div><script>
    const [box] = document.getElementsByTagName('x-box');
    box.attachShadow({ mode: 'open' }).innerHTML = '<label><input type="checkbox" role="switch" aria-label="Wifi">' +
      '<span style="cursor: default"><b style="cursor: pointer" class="knob">~</b></span></label>';
    box.onclick = (event) => { event.preventDefault(); box.ariaChecked = String(box.ariaChecked !== 'true'); };
    </script>`);
  expect((await agent.look()).split('\n').slice(1)).toEqual([
    expect.stringMatching(/^switch "Wifi" \[e\d+\]$/),
    expect.stringMatching(/^button "Save" \[e\d+\]$/),
  ]);
  expect((await agent.click('switch "Wifi"')).changes).toMatch(/^~ switch "Wifi" \[e\d+\] checked$/);
});

test('heads of columns that sort, and cells with one thing in them', async ({ open }) => {
  const agent = await open(`<div role="grid"><div role="row">
      <div role="columnheader" aria-sort="none">Name</div>
      <div role="columnheader" aria-sort="ascending"><button>Price</button></div></div>
    <div role="row"><div role="gridcell" tabindex="-1"><input type="checkbox" aria-label="Choose"></div>
      <div role="gridcell" tabindex="-1">Apple</div></div></div><script>
    const head = document.querySelector('[aria-sort]');
    head.onclick = () => { head.ariaSort = 'descending'; };</script>`);
  const rows = (await agent.look()).split('\n').filter((one) => one.includes('row'));
  expect(rows).toEqual([
    expect.stringMatching(/^ ?row: columnheader "Name" \[e\d+\] \| button "Price" \[e\d+\] ascending$/),
    expect.stringMatching(/^ ?row: checkbox "Choose" \[e\d+\] \| gridcell "Apple" \[e\d+\]$/),
  ]);
  expect((await agent.click('columnheader "Name"')).changes).toMatch(/"Name" \[e\d+\] descending \|/);
});

test('what can be dragged only once it is pressed is dragged', async ({ open }) => {
  const agent = await open(`<ul id="list"><li>one<li>two<li>three</ul><script>
    let held;
    list.onpointerdown = ({ target }) => { target.draggable = true; held = target; };
    list.ondragover = (event) => { event.preventDefault(); if (event.target !== held) event.target.after(held); };
    list.ondragend = () => { held.draggable = false; };</script>`);
  await agent.look();
  const found = async (text: string) =>
    /\[(e\d+)\]/.exec((await agent.agent.call('browser__find', { text })).text)?.[1];
  const drag = { action: 'drag', ref: await found('one'), to: await found('three') };
  expect((await agent.do('pointer', drag)).changes).toBe('~ "one" (now after "three")');
});

test('a box that says of its list only what it is', async ({ open, keptStage: stage }) => {
  const agent = await open(`<p id="chips"></p>
    <input id="box" readonly aria-haspopup="listbox" aria-controls="l" aria-label="Many">
    <input id="one" aria-haspopup="listbox" aria-label="One" aria-controls="l"><ul id="l" role="listbox" hidden>
    <li role="option">Vue<li role="option">React</ul><script>
    let of;
    for (const field of [box, one]) field.onclick = () => { l.hidden = of === field && !l.hidden; of = field; };
    box.onkeydown = ({ key }) => { l.hidden ||= key === 'Escape'; };
    one.onblur = () => setTimeout(() => { one.value = one.dataset.kept ?? ''; });
    for (const li of l.children) {
      li.onmousedown = (event) => event.preventDefault();
      li.onclick = () => {
        if (of === box) chips.append(Object.assign(document.createElement('b'), { textContent: li.textContent }));
        else { one.value = one.dataset.kept = li.textContent; l.hidden = true; }
      };
    }</script>`);
  expect(await agent.fill('textbox "Many"', ['React', 'Vue'])).toMatchObject({ verified: true });
  expect(await stage.page.locator('#chips').innerText()).toBe('ReactVue');
  expect(await agent.fill('textbox "One"', 'Vue')).toMatchObject({ value: 'Vue', verified: true });
  await stage.page.locator('#box').focus();
  expect(await stage.page.locator('#one').inputValue()).toBe('Vue');
});

test('a slider that draws itself anew when it has the focus', async ({ open }) => {
  const agent = await open(`<style>#s { height: 9px }</style>
    <div role="slider" tabindex="0" aria-label="To" aria-valuenow="9" id="s"></div><script>
    let ready = false;
    s.onfocus = () => queueMicrotask(() => { ready = true; });
    s.onkeydown = ({ key }) => { if (!ready) s.blur();
      else s.ariaValueNow = Number(s.ariaValueNow) + (key === 'ArrowLeft' ? -1 : 1); };</script>`);
  expect(await agent.fill('slider "To"', 5)).toMatchObject({ value: 5, verified: true });
});

test('a field that only keeps the value of what is drawn in its place is not told', async ({ open }) => {
  const agent = await open(`<style>.kept { opacity: 0; pointer-events: none; position: absolute }
      .cut { position: absolute; width: 1px; overflow: hidden; clip: rect(0 0 0 0) }</style>
    <div role="combobox" tabindex="0" aria-expanded="false" aria-controls="l" aria-label="Fruit" id="box">Apple
      <select class="kept" tabindex="-1" multiple><option>Apple<option>Pear</select></div>
    <ul id="l" role="listbox" hidden><li role="option">Apple<li role="option">Pear</ul>
    <div><div><button>Sort</button><select class="kept" tabindex="-1" aria-label="Order"><option>Up</select></div></div>
    <input class="cut" tabindex="-1" value="kept"><input class="kept" type="checkbox" tabindex="-1" id="c">
    <label for="c">Agree</label><script>
    box.onclick = () => { l.hidden = !l.hidden; box.ariaExpanded = String(!l.hidden); };
    for (const li of l.children) li.onclick = () => {
      box.textContent = li.textContent; l.hidden = true; box.ariaExpanded = 'false'; };</script>`);
  expect((await agent.look()).split('\n').slice(1)).toEqual([
    expect.stringMatching(/^combobox "Fruit" \[e\d+\] collapsed = "Apple"$/),
    expect.stringMatching(/^button "Sort" \[e\d+\]$/),
    expect.stringMatching(/^combobox "Order" \[e\d+\] = "Up"$/),
    expect.stringMatching(/^checkbox "Agree" \[e\d+\]$/),
  ]);
  expect(await agent.fill('combobox "Fruit"', 'Pear')).toMatchObject({ value: 'Pear', verified: true });
});

test('what lies around an open menu is counted, and not told again afterwards', async ({ open }) => {
  const agent =
    await open(`<div id="around"><h1>Files</h1>${'<p>one more</p>'.repeat(9)}<b id="said">as it was</b></div>
    <button id="more" aria-expanded="false">More</button><div role="menu" id="m" hidden>
    <button role="menuitem">Rename</button></div><script>
    const show = (now) => { m.hidden = !now; around.inert = now; more.ariaExpanded = String(now); };
    more.onclick = () => show(true);
    m.onclick = () => { said.textContent = 'renamed'; show(false); };</script>`);
  const opened = await agent.click('button "More"');
  expect(opened.changes).toMatch(
    /^~ button "More".*\n\+ .*"Rename".*\n- 11 lines behind what is open, as they were$/,
  );
  expect((await agent.look()).trim()).toBe('unchanged');
  const chosen = (await agent.click('menuitem "Rename"')).changes?.split('\n');
  expect(chosen).toHaveLength(3);
  expect(chosen).toContain('~ "renamed"');
});

test('what a page only puts aside is told as gone, and again when it is back', async ({ open }) => {
  const step = (n: number) => `<section id="s${n}">${`<p>Text of ${n}</p>`.repeat(6)}</section>`;
  const agent = await open(`<button onclick="go()">Next</button>${step(1)}${step(2)}<script>
    let at = 2; function go() { at = 3 - at; s1.inert = at !== 1; s2.inert = at !== 2; } go();</script>`);
  await agent.look();
  const ref = await agent.ref('button "Next"');
  expect((await agent.do('click', { ref })).changes).toMatch(/\+ "Text of 2".*- 6 lines from "Text of 1"/s);
  expect((await agent.do('click', { ref })).changes).toMatch(/\+ "Text of 1".*- 6 lines from "Text of 2"/s);
});

test('texts in boxes that are small at first, or clear, are filled', async ({ open, keptStage: stage }) => {
  const agent =
    await open(`<textarea aria-label="Grows" style="height: 0" onfocus="style.height = '60px'"></textarea>
    <div style="height: 0; overflow: hidden"><textarea aria-label="Folded"></textarea></div>
    <textarea aria-label="Clear" style="height: 20px; width: 200px; opacity: 0"></textarea>`);
  for (const name of ['Grows', 'Folded', 'Clear'])
    expect(await agent.fill(`textbox "${name}"`, 'words'), name).toMatchObject({ verified: true });
  const held = 'Array.from(document.querySelectorAll("textarea"), ({ value }) => value)';
  expect(await stage.page.evaluate(held)).toEqual(['words', 'words', 'words']);
});

test('a field that suggests takes words of one’s own', async ({ open }) => {
  const agent = await open(`<input aria-label="Free" aria-haspopup="listbox" aria-controls="l" id="free">
    <ul role="listbox" id="l" hidden><li role="option">paris weather</ul><script>
    free.oninput = () => { l.hidden = false; };
    l.onclick = () => { free.value = 'paris weather'; };</script>`);
  expect(await agent.fill('textbox "Free"', 'paris')).toMatchObject({ value: 'paris', verified: true });
});

test('a cell that can be used has a reference beside the link in it', async ({ open }) => {
  const agent = await open(`<div role="grid"><div role="row">
    <div role="gridcell" tabindex="-1" ondblclick="title = 'edited'"><a href="/save">Apple</a></div>
    <div role="gridcell" tabindex="-1">Pear</div></div></div>`);
  expect(await agent.look()).toMatch(/gridcell "Apple" \[e\d+\] link "Apple" \[e\d+\]/);
});

// The field that takes the keys stands a hundred pixels left of the box that is drawn.
const keysAside = `<style>#box { position: relative; width: 200px; height: 38px; display: grid }
  #keys { position: relative; left: -100px; width: 1px; opacity: 0; transform: scale(.01); border: 0; padding: 0 }
  </style><button>Before</button><div id="box"><b id="said">Select...</b><input id="keys" role="combobox" readonly
  aria-readonly="true" aria-expanded="false" aria-controls="l"></div><ul role="listbox" id="l" hidden>
  <li role="option">Ocean<li role="option">Blue</ul><script>
  const show = (now) => { l.hidden = !now; keys.ariaExpanded = String(now); };
  box.onmousedown = (event) => { event.preventDefault(); keys.focus(); show(l.hidden); };
  for (const li of l.children) li.onclick = () => { said.textContent = li.textContent; show(false); };</script>`;

test('a box whose field stands outside of it is clicked and chosen in', async ({ open }) => {
  for (const margin of ['', '<style>body { margin-left: 300px }</style>']) {
    const agent = await open(margin + keysAside);
    const filled = await agent.do('fill', {
      fields: [{ ref: await agent.ref('combobox "Select..."'), value: 'Blue' }],
    });
    expect(filled.changes).toMatch(/"Blue"/);
    expect(filled.filled).toMatchObject([{ verified: true }]);
    expect((await agent.click('combobox "Blue"')).changes).toContain('option "Ocean"');
  }
});

test('a field that the page replaces when it is filled is told as it is then', async ({ open }) => {
  const agent = await open(`<div id="box"><label>Amount <input></label></div><script>
    box.oninput = ({ target }) => {
      box.innerHTML = '<label>Amount <input></label>';
      box.querySelector('input').value = target.value;
    };</script>`);
  const fields = [{ ref: await agent.ref('textbox "Amount"'), value: '12' }];
  const effect = await agent.do('fill', { fields });
  expect(effect.changes).toMatch(/\+ textbox "Amount" \[e\d+\] = "12"/);
  expect(effect.filled).toMatchObject([{ verified: false, note: 'the page replaced the field' }]);
});

test('a splitter between two parts of a window is moved to a number', async ({ open }) => {
  const agent =
    await open(`<div role="separator" tabindex="0" aria-label="Split" aria-valuenow="50" aria-valuemin="0"
    aria-valuemax="100" style="width: 8px; height: 40px" id="s"></div><script>s.onkeydown = ({ key }) => {
    s.ariaValueNow = Number(s.ariaValueNow) + 5 * ((key === 'ArrowRight') - (key === 'ArrowLeft')); };</script>`);
  expect(await agent.fill('separator "Split"', 35)).toMatchObject({ value: 35, verified: true });
});

test('a javascript: link runs among the scripts of its page', async ({ open }) => {
  const agent =
    await open(`<p id="out"></p><script>let n = 0; const post = (what) => { out.textContent = what + ++n };</script>
    <a href="javascript:post('sorted')">Sort</a> <a href="javascript:post('not')" onclick="return false">Held</a>`);
  expect((await agent.click('link "Sort"')).changes).toBe('+ "sorted1" (first)');
  const ref = await agent.ref('link "Sort"');
  expect((await agent.do('press', { ref, keys: 'Enter' })).changes).toBe('~ "sorted2"');
  expect((await agent.click('link "Held"')).noEffect).toBe(true);
});

test('keys have the names that they have on a keyboard', async ({ open }) => {
  const agent = await open(`<p id="out"></p><script>
    onkeydown = ({ key, shiftKey }) => { if (key.length === 1) out.textContent = key + shiftKey; };</script>`);
  const heard = async (keys: string) => (await agent.do('press', { keys })).changes;
  expect(await heard('Control+S')).toBe('+ "sfalse"');
  expect(await heard('Control+Shift+s')).toBe('~ "Strue"');
  expect(await heard('Shift+/')).toBe('~ "?true"');
  expect(await heard('Alt+1')).toBe('~ "1false"');
  expect(await heard('?')).toBe('~ "?true"');
});

test('a form that is not submitted is told to be so, and no button elsewhere pressed', async ({ open }) => {
  const agent =
    await open(`<form onsubmit="return false"><label>First <input></label><button disabled>Send</button></form>
    <form onsubmit="late(); return false"><label>Second <input name="hasAttribute"></label><button>Go</button></form>
    <form onsubmit="return false"><label>Third <input id="third"></label><button>Go</button></form>
    <button id="away" onclick="textContent += '!'">Away</button><p id="out"></p><script>
    const late = () => setTimeout(() => { out.textContent = 'taken' }, 150);
    third.onfocus = () => away.focus();</script>`);
  const submit = async (words: string) => {
    const fields = [{ ref: await agent.ref(words), value: 'x' }];
    return agent.do('fill', { fields, submit: true });
  };
  expect((await submit('textbox "First"')).note).toContain('no form was submitted');
  const second = await submit('textbox "Second"');
  expect(second.changes).toContain('+ "taken"');
  expect(second.note).toBeUndefined();
  expect((await submit('textbox "Third"')).note).toContain('Not submitted');
  expect(await agent.look({ full: true })).toContain('button "Away"');
});

test('neither an address for another program nor an empty answer is a download', async ({
  keptStage,
  closing,
}) => {
  const page = '<a href="mailto:ada@leaf.example">Write</a> <a href="/empty">Mark</a>';
  const site = await openSite(closing, { page, empty: 204 });
  await visit(keptStage, `${site}/page`);
  const agent = new Acting(keptStage.agent);
  for (const link of ['link "Write"', 'link "Mark"'])
    expect((await agent.click(link)).downloads, link).toBeUndefined();
});

test('what stands in a thing is told where its name does not say it', async ({ open }) => {
  const agent = await open(`<div onclick="0" title="Click to edit">Value 5</div>
    <div tabindex="0" aria-label="Card"><h3>Lamp</h3><p>Price 12</p></div>
    <button aria-label="Cart"><b>3</b></button><button aria-label="Close">x</button>
    <button aria-label="Delete it"><i>delete</i></button><a href="#a" aria-label="Read more about Ada">Read more</a>
    <div>At <span style="display: block">noon</span><span style="display: block">sharp</span></div>`);
  expect(
    (await agent.look())
      .replaceAll(/ \[e\d+\]/g, '')
      .split('\n')
      .slice(1),
  ).toEqual([
    'clickable "Click to edit": "Value 5"',
    'clickable "Card"',
    ' h3 "Lamp"',
    ' "Price 12"',
    'button "Cart": "3"',
    'button "Close"',
    'button "Delete it"',
    'link "Read more about Ada"',
    '"At noon sharp"',
  ]);
});

test('formulas are told in one line, also where what people see of them is drawn beside', async ({
  open,
}) => {
  const clipped = 'position: absolute; clip: rect(1px, 1px, 1px, 1px)';
  const agent =
    await open(`<p>Half is <math><mfrac><mn>1</mn><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math></p>
    <p>Power <span style="${clipped}"><math><semantics><msup><mi>x</mi><mn>2</mn></msup>
      <annotation encoding="application/x-tex">x^{2}</annotation></semantics></math></span>
      <span aria-hidden="true">x2</span></p>
    <p>Nothing <span style="${clipped}"><math><mi>never told</mi></math></span></p>`);
  const page = await agent.look();
  expect(page).toContain('"Half is" math "1/(x+1)"');
  expect(page).toContain('"Power" math "x^{2}"');
  expect(page).not.toContain('never told');
});

test('the areas of a picture can be clicked', async ({ open, keptStage: stage }) => {
  const agent = await open(`<div style="height: 3000px"></div><map name="m">
    <area shape="rect" coords="0,0,50,50" href="#sun" alt="Sun"><area shape="circle" coords="75,25,9" href="#moon"
      alt="Moon"></map><img usemap="#m" alt="Sky" style="padding: 20px" width="100" height="50"
      src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==">`);
  expect(await agent.look()).toMatch(/img "Sky"\nlink "Sun" \[e\d+\]\nlink "Moon" \[e\d+\]/);
  expect((await agent.click('link "Moon"')).url).toMatch(/#moon$/);
  expect((await agent.do('click', { ref: 'link "Sun"' })).url).toMatch(/#sun$/);
  expect(stage.page.url()).toMatch(/#sun$/);
});

test('what is moved step by step is not said to have had no effect', async ({ open }) => {
  const agent =
    await open(`<div id="node" role="button" tabindex="0" style="position: absolute">Node</div><script>
    node.onmousedown = () => {
      onmousemove = ({ clientX }) => { node.style.left = clientX + 'px'; };
      onmouseup = () => { onmousemove = null; };
    };</script>`);
  const ref = await agent.ref('button "Node"');
  const moved = await agent.do('pointer', { action: 'drag', ref, at: { x: 90, y: 0 } });
  expect(moved.noEffect).toBeUndefined();
  expect(moved.note).toContain('style');
});

const narrow = 'overflow: hidden; position: relative; width: 3px; height: 0';
const dot = 'style="position: absolute; width: 900px; height: 1em; bottom: -1em"';

test('what goes in at the dot of an editor, or of a terminal, is told as it is drawn', async ({ open }) => {
  const agent = await open(`<div style="position: relative; width: 300px">
    <div style="${narrow}"><textarea ${dot} aria-label="Code"></textarea></div><pre id="shown">old</pre></div>
    <div style="width: 300px; height: 80px"><div style="${narrow}"><textarea ${dot}
      aria-label="Shell"></textarea></div><div aria-hidden="true" id="rows"><div>Welcome</div></div></div><script>
    const [code, shell] = document.querySelectorAll('textarea');
    code.onkeydown = ({ key, ctrlKey }) => {
      if (ctrlKey && key === 'a') setTimeout(() => { code.value = shown.textContent; code.select(); });
    };
    code.onpaste = (event) => {
      event.preventDefault();
      shown.textContent = event.clipboardData.getData('text');
    };
    shell.onkeydown = ({ key }) => { rows.append(key); };</script>`);
  expect(await agent.look()).toContain('"Welcome"');
  expect(await agent.fill('textbox "Code"', 'new text')).toMatchObject({ value: 'new text', verified: true });
  expect(await agent.look({ full: true })).toMatch(/textbox "Code" \[e\d+\] focused\n"new text"/);
  const typed = await agent.do('press', { ref: await agent.ref('textbox "Shell"'), text: 'ls' });
  expect(typed.changes).toContain('"ls"');
});

test('a field with a text of its own making (EditContext) is told and filled', async ({ open }) => {
  const agent = await open(`<div role="textbox" aria-label="Own" tabindex="0" id="own"></div><script>
    const context = new EditContext();
    own.editContext = context;
    context.ontextupdate = () => { own.textContent = context.text; };</script>`);
  for (const text of ['first', 'second'])
    expect(await agent.fill('textbox "Own"', text)).toMatchObject({ value: text, verified: true });
  expect(await agent.look({ full: true })).toMatch(/textbox "Own" \[e\d+\] focused = "second"/);
});

const searched = `<label for="s">City</label><select id="s" tabindex="-1" style="position: absolute; width: 1px; height:
  1px; overflow: hidden; clip-path: inset(50%)"><option></option></select><span><span role="combobox" id="box"
  tabindex="0" aria-haspopup="true" aria-expanded="false">none</span></span>
  <div id="pop" hidden><input type="search" id="words"><ul role="listbox" id="l"></ul></div><script>
  box.onclick = () => { pop.hidden = false; box.ariaExpanded = 'true'; words.focus(); };
  words.oninput = () => setTimeout(() => {
    l.innerHTML = ['Paris', 'Prague'].filter((one) => one.includes(words.value)).map((one) =>
      '<li role="option">' + one + '</li>').join('');
  }, 200);
  l.onclick = ({ target }) => { box.textContent = target.textContent; pop.hidden = true; box.ariaExpanded = 'false'; };
  </script>`;

test('a box with a field to search in is called what the list it stands for is, and searched', async ({
  open,
}) => {
  const agent = await open(searched);
  expect(await agent.look()).not.toContain('"City"\n');
  expect(await agent.fill('combobox "City"', 'Prague')).toMatchObject({ verified: true });
  expect(await agent.look({ full: true })).toMatch(/combobox "City" \[e\d+\] collapsed.* = "Prague"/);
});

test('a box that leaves the focus in a field does not type there what it does not offer', async ({
  open,
  keptStage: stage,
}) => {
  const agent =
    await open(`<textarea autofocus>kept</textarea><div role="combobox" aria-label="Font" tabindex="0"
      aria-expanded="false" id="box">Arial</div><ul role="listbox" id="l" hidden><li role="option">Arial</ul><script>
    box.onmousedown = (event) => { event.preventDefault(); l.hidden = false; box.ariaExpanded = 'true'; };</script>`);
  await stage.page.locator('textarea').focus();
  expect(await agent.fill('combobox "Font"', 'Times')).toMatchObject({ verified: false });
  await expect(stage.page.locator('textarea')).toHaveValue('kept');
});

test('the words of a label are told where its field is called something else', async ({ openInNewTab }) => {
  const agent = await openInNewTab(`<label>Day <input aria-label="Use the arrow keys"></label>
    <label>Mail <input aria-label="mail"></label>`);
  expect((await agent.look()).split('\n').slice(1)).toEqual([
    '"Day"',
    'textbox "Use the arrow keys" [e1]',
    'textbox "mail" [e2]',
  ]);
});

test('an application of one page is waited for until it shows what belongs to its address', async ({
  open,
}) => {
  const agent = await open(`<button>Next</button><p id="old">First</p><script>
    document.querySelector('button').onclick = () => {
      history.pushState(0, '', '#next');
      document.title = 'Next';
      old.remove();
      setTimeout(() => document.body.append('Second'), 150);
    };</script>`);
  expect((await agent.click('button "Next"')).changes).toContain('+ "Second"');
});

test('what is drawn as a line, in a canvas with a name, or under one that lets the pointer through', async ({
  open,
}) => {
  const agent = await open(`<svg width="90" height="90"><g role="button" tabindex="0" aria-label="Edge"
      onclick="seen.append('edge ')"><path d="M40,9V80" stroke="black" stroke-width="5"></path></g></svg>
    <div role="img" aria-label="Sales" style="width: 50px"><canvas width="50" height="50"></canvas></div>
    <div style="position: relative; width: 90px; height: 90px" onmousedown="seen.append('board ')"><canvas class="board"
      style="position: absolute; inset: 0; pointer-events: none"></canvas>
      <div style="position: absolute; inset: 0"></div></div><p id="seen"></p>
    <script>document.querySelector('canvas').addEventListener('click', () => seen.append('bar '));</script>`);
  for (const words of ['button "Edge"', 'img "Sales"', 'canvas "board"']) await agent.click(words);
  expect(await agent.look({ full: true })).toContain('"edge bar board"');
});
