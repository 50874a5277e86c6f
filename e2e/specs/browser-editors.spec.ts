// Editors that keep a document of their own: what an agent fills in is in their models, once.
import { openActSite } from '../sites/acts.ts';
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
  sharedStage: stage,
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

test('what is typed goes into the editor that has the focus', async ({ sharedStage: stage, closing }) => {
  const { url } = await openActSite(closing);
  const agent = await openEditors(stage, url);
  for (const [name, words] of editors) {
    const ref = await agent.ref(words);
    await agent.do('press', { keys: 'Control+A', ref });
    await agent.do('press', { text: 'typed text' });
    await expect.poll(() => held(stage, name), { message: name }).toBe('typed text');
  }
});

test('an editor in a frame of its own', async ({ sharedStage: stage, closing }) => {
  const { url } = await openActSite(closing);
  const agent = await openEditors(stage, url);
  const page = await agent.look({ full: true, maxTokens: 20_000 });
  const ref = /\[(f\d+e\d+)\]/.exec(page)?.[1];
  expect(ref, page).toBeDefined();
  const effect = await agent.do('fill', { fields: [{ ref, value: 'in a frame' }] });
  expect(effect.filled).toMatchObject([{ verified: true }]);
  await expect.poll(() => held(stage, 'tinymce')).toBe('in a frame');
});

test('fields of a framework hear of what is filled in', async ({ sharedStage: stage, closing }) => {
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
  sharedStage: stage,
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
