// Editors keep a document of their own and draw it. What goes in is sent once, in the one way the editor is known to
// take, and looked for afterwards: some commit only after a while, and sent again it would be there twice.
import { boxOf, documentFor, isConnected, isHtml, isTextField, nearest, upwards } from './dom.ts';
import { answer, editorOf, eventually, lateMs, type Reading, type Task, textOf, untilMs } from './fields.ts';
import { readKeys } from './keys.ts';
import { focusOn } from './mouse.ts';
import {
  Clipboard,
  editContextOf,
  insertText,
  isAllSelected,
  mayInput,
  pasteInto,
  selectAllOf,
  shownText,
  shows,
} from './text.ts';
import { stroke } from './typing.ts';

const mostTries = 5; // to select all; an editor that holds more than it shows never looks as if that worked

/** Replaces what an editor holds. */
export async function fillEditor(task: Task): Promise<Reading> {
  const { target, value, page } = task;
  const editor = editorOf(target);
  if (editor === undefined) return { filled: answer(task, '', false) };
  const text = textOf(value).replace(/\r\n?/g, '\n');
  const monaco = nearest(editor, '.monaco-editor');
  const shownIn = monaco?.querySelector('.view-lines') ?? editor;
  const byKeys = monaco !== null || isTextField(editor);
  const context = byKeys ? undefined : editContextOf(editor);
  const reading = () =>
    monaco !== null ? monacoText(shownIn) : isTextField(editor) ? textAround(editor) : shownText(editor);
  const before = reading();
  focusOn(editor);
  await page.pause(0);
  const owner = documentFor(editor);
  if (byKeys) stroke(owner, { key: 'a', code: 'KeyA', keyCode: 65, modifiers: ['Control'] }, new Clipboard());
  else if (context !== undefined) context.updateSelection(0, context.text.length);
  else selectAllOf(editor);
  await page.pause(untilMs); // editors hear of a selection after the turn
  // One that has just heard of the focus puts its own selection back.
  for (
    let tries = 0;
    tries < mostTries && !byKeys && context === undefined && !isAllSelected(editor);
    tries++
  ) {
    selectAllOf(editor);
    await page.pause(untilMs);
  }
  if (context !== undefined) insertText(editor, text);
  else if (text === '') {
    // In an empty one the key may mean more than its text.
    if (before.trim() !== '') for (const key of readKeys('Backspace')) stroke(owner, key, new Clipboard());
  } else if (byKeys || text.includes('\n')) {
    if (!pasteInto(editor, text) && !byKeys) insertLines(editor, text);
  } else insertText(editor, text);
  await eventually(page, lateMs, () => shows(reading(), text));
  const again = () => {
    const now = reading().replace(/\n$/, '');
    if (isConnected(editor) && shows(now, text)) return answer(task, now, true);
    const same = now === before.replace(/\n$/, '');
    const note = same ? 'the editor shows no change yet' : 'the editor shows something else';
    return answer(task, now, false, `${note}; take a snapshot before anything is typed again`);
  };
  return { filled: again(), again };
}

function monacoText(lines: Element): string {
  const rows = Array.from(lines.children).filter(isHtml);
  rows.sort((a, b) => a.offsetTop - b.offsetTop);
  return rows
    .map((row) => (row.textContent ?? '').replace(/\u00a0/g, ' ').replace(/[\u200b\ufeff]/g, ''))
    .join('\n');
}

// What is drawn around a field that only takes keys, without the numbers of the lines.
function textAround(field: Element): string {
  const around = Array.from(upwards(field)).find((at) => {
    const { width, height } = boxOf(at);
    return at !== field && width > 40 && height > 12;
  });
  let number = 1;
  const isText = (line: string) => {
    if (line.trim() !== String(number)) return true;
    number++;
    return false;
  };
  return shownText(around ?? field)
    .split('\n')
    .filter(isText)
    .join('\n')
    .replace(/^\s*\n|\s+$/g, '');
}

function insertLines(editor: HTMLElement, text: string): void {
  text.split('\n').forEach((line, i) => {
    if (i > 0 && mayInput(editor, 'insertParagraph', null))
      documentFor(editor).execCommand('insertParagraph');
    if (line !== '') insertText(editor, line);
  });
}
