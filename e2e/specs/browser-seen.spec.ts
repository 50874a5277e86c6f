// Seen whole: one line has one thing to act on, and a reference never acts on something other than its words.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import base, { expect, type Stage, visit } from '../stage/test.ts';

type Visitor = Acting & { stage: Stage; says(text: string): Promise<void> };

const test = base.extend<{ on: (body: string) => Promise<Visitor> }>({
  on: async ({ sharedStage: stage, closing }, use) => {
    await use(async (body) => {
      const script = '<script>const tell = (...all) => { out.textContent += all.join(" ") + ";"; };</script>';
      const page = `<!doctype html><meta charset="utf-8"><title>Seen</title>${script}${body}<p id="out" hidden></p>`;
      await visit(stage, `${await openSite(closing, { page })}/page`);
      const says = (text: string) => expect.poll(() => stage.page.textContent('#out')).toBe(text);
      return Object.assign(new Acting(stage.agent), { stage, says });
    });
  },
});

const refIn = (text: string): string => /\[(e\d+)\]/.exec(text)?.[1] ?? '';
const found = async (agent: Visitor, text: string): Promise<string> =>
  (await agent.agent.call('browser__find', { text })).text;

const told = `for (const one of document.querySelectorAll('[id]:not(#out)'))
  one.addEventListener('click', (e) => { e.stopPropagation(); tell(one.id); });`;

test('words of a text are found, and pressed, in the element in which they stand', async ({ on }) => {
  const agent = await on(`<div><span id="all">Delete all</span> <span id="keep">Keep</span></div>
    <div id="both"><b id="less">-</b> <b id="more">+</b> of them</div><script>${told}</script>`);
  const keep = await found(agent, 'Keep');
  expect(keep).toMatch(/^text \[e\d+\]: "Keep" in "Delete all Keep"$/);
  await agent.do('click', { ref: refIn(keep) });
  const signs = (await found(agent, '- +')).split('\n');
  expect(signs.map((line) => line.replace(/e\d+/, 'e'))).toEqual([
    'text [e]: "-" in "- + of them"',
    'text [e]: "+" in "- + of them"',
  ]);
  await agent.do('click', { ref: refIn(signs[1] ?? '') });
  const whole = refIn(await found(agent, 'of them'));
  await agent.do('click', { ref: whole });
  await agent.do('click', { ref: whole, at: '-' });
  await agent.says('keep;more;both;less;');
  expect(await agent.failure('click', { ref: whole, at: 'nothing' })).toMatchObject({
    code: 'VALIDATION_ERROR',
    outcome: 'not_executed',
  });
});

test('a press that would meet another thing is refused, and both are named', async ({ on }) => {
  const agent =
    await on(`<style>.row { cursor: pointer; display: flex; width: 80px } .row b { flex: 1; cursor: pointer }
      #lid { position: absolute; inset: 0; background: #cccc }</style>
    <div class="row" id="row"><b id="yes">Yes</b><b id="no">No</b></div>
    <div style="position: relative"><button id="under">Under</button><div id="lid">Lid</div></div>
    <script>${told}</script>`);
  expect(await agent.look()).toContain('clickable "row" [e3]\n clickable "Yes" [e1]\n clickable "No" [e2]');
  const row = await agent.failure('click', { ref: 'e3' });
  expect(row).toMatchObject({ code: 'TARGET_COVERED', outcome: 'not_executed' });
  expect(row.text).toMatch(/clickable "row" \[e3\] is covered by clickable "(?:Yes|No)" \[e[12]\]/);
  const under = await agent.failure('click', { ref: await agent.ref('button "Under"') });
  expect(under.text).toMatch(/button "Under" \[e\d+\] is covered by .*"Lid"/);
  await agent.do('click', { ref: 'e1' });
  await agent.do('click', { ref: 'e2' });
  await agent.says('yes;no;');
});

test('choosing leaves no list over what comes next', async ({ on }) => {
  const agent =
    await on(`<style>.list { position: absolute; width: 160px; background: #fff } button, .box { display: block;
      width: 160px }</style>
    <div class="box" id="size" role="combobox" tabindex="0" aria-label="Size" aria-haspopup="listbox"
      aria-expanded="false" aria-controls="sizes">Choose</div>
    <div class="list" id="sizes" role="listbox" hidden>
      <div role="option">Small</div><div role="option">Large</div></div>
    <button id="colour" aria-haspopup="listbox">Colour</button>
    <div class="list" id="colours" hidden><div role="option">Red</div><div role="option">Blue</div></div>
    <button onclick="tell('next')">Next</button><script>
      const toggle = (box, list) => () => { list.hidden = !list.hidden;
        if (box.ariaExpanded) box.ariaExpanded = String(!list.hidden); };
      size.onclick = toggle(size, sizes); colour.onclick = toggle(colour, colours);
      sizes.onclick = ({ target }) => { size.textContent = target.textContent; };
      colours.onclick = ({ target }) => { colour.textContent = target.textContent; };
    </script>`);
  expect(await agent.fill('combobox "Size"', 'Large')).toMatchObject({ value: 'Large', verified: true });
  expect((await agent.click('button "Colour"')).changes).toContain('option "Red"');
  await agent.click('button "Colour"');
  expect(await agent.fill('button "Colour"', 'Blue')).toMatchObject({ value: 'Blue', verified: true });
  expect(await agent.look({ full: true })).not.toContain('option');
  await agent.click('button "Next"');
  await agent.says('next;');
});

test('what a field holds is told whole where that is asked for', async ({ on }) => {
  const agent = await on(`<textarea aria-label="Letter"></textarea><script>
    document.querySelector('textarea').value = 'words '.repeat(500) + 'end';</script>`);
  const short = await agent.look();
  expect(short).not.toContain('end"');
  const ref = await agent.ref('textbox "Letter"');
  expect(await agent.look({ ref })).toContain('words words end"');
  const forms = async (more: object) =>
    (await agent.agent.call('browser__read', { what: 'forms', ...more })).text.includes('words end');
  expect(await forms({})).toBe(false);
  expect(await forms({ maxChars: 5000 })).toBe(true);
});

test('what is dropped before or after a text beside a picture goes by the items', async ({ on }) => {
  const item = (name: string) => `<li draggable="true"><span class="pic"></span><span>${name}</span></li>`;
  const agent =
    await on(`<style>.pic { display: inline-block; width: 20px; height: 20px; background: #c33 }</style>
    <ul id="list">${['one', 'two', 'three'].map(item).join('')}</ul><script>
      list.ondragover = (e) => e.preventDefault();
      list.ondrop = (e) => { const at = e.target.closest('li').getBoundingClientRect();
        const half = e.clientY < at.top + at.height / 2 ? 'before' : 'after';
        tell(e.target.closest('li').textContent, half); };</script>`);
  const [one, two, three] = [
    await found(agent, 'one'),
    await found(agent, 'two'),
    await found(agent, 'three'),
  ].map(refIn);
  await agent.do('pointer', { action: 'drag', ref: one, to: three, at: 'before' });
  await agent.do('pointer', { action: 'drag', ref: one, to: two, at: 'after' });
  await agent.says('three before;two after;');
});

test('keys that move the caret, select or copy are told, and what a script keeps for itself is not', async ({
  on,
}) => {
  const agent = await on(`<input aria-label="Name" value="Ada Lovelace">
    <button onclick="this.dataset.n = 1">Mark</button>
    <button onclick="this.style.color = ''; this.removeAttribute('style')" style="color: #123">Clear</button>
    <button onclick="this.className = 'on'">Like</button>`);
  const ref = await agent.ref('textbox "Name"');
  await agent.do('press', { ref, keys: 'End' });
  const noteOf = async (keys: string) => {
    const { noEffect, note } = await agent.do('press', { keys });
    expect(noEffect).toBeUndefined();
    return note;
  };
  expect(await noteOf('Home')).toBe('The caret is at the start');
  expect(await noteOf('Shift+ArrowRight')).toBe('1 character selected');
  expect(await noteOf('Control+A')).toBe('All 12 characters selected');
  expect(await noteOf('Control+C')).toBe('12 characters copied');
  for (const words of ['button "Mark"', 'button "Clear"'])
    expect(await agent.click(words), words).toMatchObject({ noEffect: true });
  expect((await agent.click('button "Like"')).note).toContain('Only how something looks changed');
});

test('words name what a look tells, also headings, texts of several elements, and what has no name', async ({
  on,
}) => {
  const agent = await on(`<style>li > ul { display: none }</style><h3 id="returns">Returns</h3>
    <div id="box"><span>Select…</span><span>▾</span></div><ul><li id="file">File<ul><li>New</ul></ul>
    <div id="icon">📄<br>b.txt</div><p id="dash">E-77 (err)</p>
    <div><input type="checkbox" id="ann"> Ann</div><div><input type="checkbox" id="bob"> Bob</div>
    <div><b id="left">Left</b> <b id="right">Right</b><p id="under">Under</p></div><script>${told}</script>`);
  for (const words of [
    'h3 "Returns"',
    '"Select…▾"',
    '"File"',
    '"b.txt"',
    '"E-77 (err)"',
    'checkbox in "Bob"',
  ])
    await agent.do('click', { ref: words });
  await agent.says('returns;box;file;icon;dash;bob;');
  const parts = await agent.failure('click', { ref: '"Left Right"' });
  expect(parts).toMatchObject({ code: 'VALIDATION_ERROR', outcome: 'not_executed' });
  const nothing = await agent.failure('click', { ref: '"b.tx"' });
  expect(nothing.code).toBe('REF_GONE');
  expect(await agent.failure('click', { ref: 'nonsense in "Bob"' })).toMatchObject({
    code: 'VALIDATION_ERROR',
  });
});

test('an element that captures the pointer gets what it does, wherever that is', async ({ on }) => {
  const agent =
    await on(`<div id="knob" style="width: 20px; height: 20px; background: blue; cursor: grab"></div>
    <b id="now">0</b><script>let from;
    knob.onpointerdown = (e) => { knob.setPointerCapture(e.pointerId); from = e.clientX; };
    knob.onpointermove = (e) => { if (knob.hasPointerCapture(e.pointerId)) now.textContent = e.clientX - from; };
    knob.onpointerup = (e) => { knob.releasePointerCapture(e.pointerId); tell('up', knob.hasPointerCapture(1)); };
    for (const type of ['gotpointercapture', 'lostpointercapture']) knob.addEventListener(type, () => tell(type));
    </script>`);
  const drag = { action: 'drag', ref: await agent.ref('draggable "knob"'), at: { x: 150, y: 40 } };
  expect((await agent.do('pointer', drag)).changes).toBe('~ "150"');
  await agent.says('gotpointercapture;up false;lostpointercapture;');
  const thrown = await agent.stage.page.evaluate(() => {
    try {
      document.body.setPointerCapture(7);
    } catch (why) {
      return String(why);
    }
    return '';
  });
  expect(thrown).toContain('NotFoundError'); // as without us
});

test('who waited for something is told what came with it', async ({ on }) => {
  const agent =
    await on(`<button onclick="setTimeout(() => { code.innerHTML = 'Code: <b>73</b><input>' }, 700)">Start
    </button><p id="code"></p>`);
  await agent.click('button "Start"');
  const { text } = await agent.agent.call('browser__wait', { text: 'Code:' });
  expect(text).toMatch(/^"Code:" is there\n\+ "Code: 73"\n\+ textbox \[e\d+\]$/);
  expect(await agent.look()).toBe('unchanged');
});

test('of what is drawn anew it is said what is new, and what says the same', async ({ on }) => {
  const agent = await on(`<div id="list"></div><script>const all = ['Ann', 'Bob'];
    const draw = (on) => { list.innerHTML = all.map((one) => '<button class="' + (one === on ? 'on' : '') + '">' + one +
      '</button>').join('') + '<p class="' + on + '">Words</p>'; };
    const say = (text) => list.querySelector('p').outerHTML = '<p class="x">' + text + '</p>';
    draw();
    list.onclick = (e) => { if (e.target.tagName === 'P') say('Words'); else { all.push('Cid'); draw('Ann'); } };
    </script>`);
  const pushed = await agent.click('button "Ann"');
  expect(pushed.changes?.replaceAll(/e\d+/g, 'e').split('\n')).toEqual([
    '+ button "Ann" [e] (first)',
    '+ button "Bob" [e]',
    '+ button "Cid" [e]',
    '- 2 lines told anew (e-e)',
  ]);
  const same = await agent.do('click', { ref: '"Words"' });
  expect(same).toMatchObject({ note: 'Only how something looks changed, in what the page drew anew' });
  expect(same.noEffect).toBeUndefined();
});

test('a long list of boxes in a scroller is counted, and what the pointer goes through is pressed', async ({
  on,
}) => {
  const rows = Array.from({ length: 90 }, (_, n) => `<div class="r" id="r${n}">Row ${n}</div>`).join('');
  const agent = await on(`<div id="all" style="height: 90px; overflow: auto">${rows}</div>
    <svg width="200" height="90"><g id="part"><path d="M0 0H150V80H0Z" fill="#9cf"/>
    <text x="50" y="40" style="pointer-events: none">R</text></g></svg><script>${told}</script>`);
  expect(await agent.look()).toMatch(/ "Row 11"\n … 78 more, not on the screen \[e\d+\]\n"R"$/);
  await agent.do('click', { ref: '"Row 77"' });
  await agent.do('click', { ref: '"R"' });
  await agent.says('r77;part;');
});
