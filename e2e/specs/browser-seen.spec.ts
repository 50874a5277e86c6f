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
