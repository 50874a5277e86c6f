// Editors that keep a document of their own: what an agent fills in is in their models, once.
import { openActSite } from '../sites/acts.ts';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { expect, type Stage, test, visit } from '../stage/test.ts';

const held = (stage: Stage, editor: string): Promise<unknown> =>
  stage.page.evaluate((name) => Reflect.get(window, 'held')(name), editor);

const texts = ['new words', 'first line\nsecond "line" (x)\nthird', 'again'];

async function openEditors(stage: Stage, site: string): Promise<Acting> {
  await visit(stage, `${site}/editors`);
  await stage.page.waitForFunction(() => Reflect.get(window, 'opened') === true);
  const names: [selector: string, label: string][] = [
    ['#prosemirror .ProseMirror', 'ProseMirror'],
    ['.cm-content', 'CodeMirror'],
    ['.ql-editor', 'Quill'],
  ];
  for (const [selector, label] of names)
    await stage.page.locator(selector).evaluate((one, name) => one.setAttribute('aria-label', name), label);
  return new Acting(stage.agent);
}

const editors: [name: string, words: string][] = [
  ['lexical', 'textbox "Lexical"'],
  ['prosemirror', 'textbox "ProseMirror"'],
  ['codemirror', 'textbox "CodeMirror"'],
  ['monaco', 'textbox "monaco"'],
  ['monaco-area', 'textbox "monaco-area"'],
  ['quill', 'textbox "Quill"'],
];

test('editors take text, of one line and of several, and hold it once', async ({
  keptStage: stage,
  closing,
}) => {
  const { url } = await openActSite(closing);
  const agent = await openEditors(stage, url);
  for (const text of texts)
    for (const [name, words] of editors) {
      expect(await agent.fill(words, text), name).toMatchObject({ verified: true });
      await expect.poll(() => held(stage, name), { message: name }).toBe(text);
    }
  // Nothing was sent twice, and nothing comes late.
  for (const [name] of editors) expect(await held(stage, name), name).toBe('again');
});

test('what is typed goes into the editor that has the focus', async ({ keptStage: stage, closing }) => {
  const { url } = await openActSite(closing);
  const agent = await openEditors(stage, url);
  for (const [name, words] of editors) {
    const ref = await agent.ref(words);
    await agent.do('press', { keys: 'Control+A', ref });
    await agent.do('press', { text: 'typed text' });
    await expect.poll(() => held(stage, name), { message: name }).toBe('typed text');
  }
});

test('an editor in a frame of its own', async ({ keptStage: stage, closing }) => {
  const { url } = await openActSite(closing);
  const agent = await openEditors(stage, url);
  const page = await agent.look({ full: true, maxTokens: 20_000 });
  const ref = /\[(f\d+e\d+)\]/.exec(page)?.[1];
  expect(ref, page).toBeDefined();
  const effect = await agent.do('fill', { fields: [{ ref, value: 'in a frame' }] });
  expect(effect.filled).toMatchObject([{ verified: true }]);
  await expect.poll(() => held(stage, 'tinymce')).toBe('in a frame');
});

test('fields of a framework hear of what is filled in', async ({ keptStage: stage, closing }) => {
  const { url } = await openActSite(closing);
  const agent = await openEditors(stage, url);
  expect(await agent.fill('textbox "React name"', 'Ada')).toMatchObject({ verified: true });
  expect(await agent.fill('combobox "React kind"', 'Kind c')).toMatchObject({ verified: true });
  expect(await agent.fill('checkbox "React agreed"', true)).toMatchObject({ verified: true });
  // A mask takes digits only: what the field holds is told, not what was asked for.
  expect(await agent.fill('textbox "React amount"', '12x')).toMatchObject({ value: '12', verified: false });
  expect(await held(stage, 'react')).toBe('{"name":"Ada","kind":"c","agreed":true,"amount":"12"}');
});

test('what an empty editor shows in place of a text is not its value', async ({
  keptStage: stage,
  closing,
}) => {
  const { url } = await openActSite(closing);
  const agent = await openEditors(stage, url);
  expect(await agent.fill('textbox "CodeMirror"', '')).toMatchObject({ value: '', verified: true });
  expect(await agent.look({ full: true })).toMatch(
    /textbox "CodeMirror" \[e\d+\](?: focused)? placeholder "Write code here"/,
  );
  expect(await agent.fill('textbox "CodeMirror"', 'words')).toMatchObject({ value: 'words', verified: true });
});

// An editor that knows of a text by the event before it, and of a deletion by its key; what changes without that it
// cannot draw any more.
const ownDrawing = `<div contenteditable role="textbox" aria-label="Own" id="own"></div><script>
  let text = '';
  const draw = () => {
    own.textContent = text;
    getSelection().selectAllChildren(own);
    getSelection().collapseToEnd();
  };
  const take = (event, added) => {
    event.preventDefault();
    text = getSelection().isCollapsed ? text + added : added;
    draw();
  };
  own.addEventListener('textInput', (event) => take(event, event.data));
  own.onkeydown = (event) => { if (event.key === 'Backspace') take(event, ''); };
  own.oninput = () => own.remove();</script>`;

// A field that only takes keys beside a text that the editor draws. It replaces what Control+A marked.
const keysOnly = `<style>textarea { position: absolute; opacity: 0; width: 1px; height: 1em }
    .code { position: relative; width: 300px; min-height: 40px }</style>
  <div class="code"><textarea></textarea><pre id="lines"></pre></div>
  <div class="terminal code"><textarea id="keys"></textarea><pre id="shown">$ </pre></div><script>
  const [area] = document.getElementsByTagName('textarea');
  let text = 'old';
  let all = false;
  const draw = () => { lines.textContent = text.split('\\n').map((line, n) => n + 1 + '\\n' + line).join('\\n'); };
  const put = (added) => { text = all ? added : added + text; all = false; area.value = ''; draw(); };
  area.onkeydown = ({ key, ctrlKey }) => { if (key === 'a' && ctrlKey) all = true; };
  area.oninput = () => put(area.value);
  area.onpaste = (event) => { event.preventDefault(); put(event.clipboardData.getData('text/plain')); };
  keys.onkeypress = ({ key }) => { shown.textContent += key; };
  draw();</script>`;

test('an editor that hears of what is typed before it is there', async ({ keptStage: stage, closing }) => {
  const site = await openSite(closing, { page: `<!doctype html><title>Own</title>${ownDrawing}` });
  await visit(stage, `${site}/page`);
  const agent = new Acting(stage.agent);
  const own = stage.page.locator('#own');
  for (const text of ['new words', '', 'again']) {
    expect(await agent.fill('textbox "Own"', text)).toMatchObject({ value: text, verified: true });
    await expect(own).toHaveText(text);
  }
  await agent.do('press', { text: ' more' });
  await expect(own).toHaveText('again more');
});

test('a field that only takes the keys of an editor is not filled itself', async ({
  keptStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { page: `<!doctype html><title>Keys</title>${keysOnly}` });
  await visit(stage, `${site}/page`);
  const agent = new Acting(stage.agent);
  for (const text of ['new', 'two\nlines']) {
    expect(await agent.fill('textbox "code"', text)).toMatchObject({ value: text, verified: true });
    expect(await stage.page.evaluate('text')).toBe(text);
  }
  expect(await agent.fill('textbox "keys"', 'ls')).toMatchObject({ verified: false });
  await expect(stage.page.locator('#shown')).toHaveText('$ ');
});
