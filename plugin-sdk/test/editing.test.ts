import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolError } from '@tabrelay/plugin-sdk';
import { changedText, replaceOnce, type TextChange } from '@tabrelay/plugin-sdk/editing';

const replaced: [whole: string, oldText: string, newText: string, now: string][] = [
  ['The fox is red.', 'red', 'white', 'The fox is white.'],
  ['The fox is red.', ' is red', '', 'The fox.'],
  ['a\nb\nc', 'b\nc', 'x\ny', 'a\nx\ny'],
  ['a\r\nb\r\nc', 'b\nc', 'x\ny', 'a\r\nx\r\ny'],
  ['a\r\nb', 'b', 'x\ny', 'a\r\nx\ny'],
  ['costs $1', '$1', '$& and $$', 'costs $& and $$'],
  ['\u{1f98a} and \u{1f43a}', '\u{1f43a}', 'wolf', '\u{1f98a} and wolf'],
];

for (const [whole, oldText, newText, now] of replaced) {
  test(`${JSON.stringify(oldText)} in ${JSON.stringify(whole)} is replaced`, () => {
    assert.equal(replaceOnce(whole, oldText, newText), now);
  });
}

const refused: [what: string, whole: string, oldText: string, code: string, says: RegExp][] = [
  ['a part that is not there', 'The fox', 'wolf', 'OLD_TEXT_NOT_FOUND', /does not have oldText/],
  ['a part with other spaces', 'The  red\nfox', 'red fox', 'OLD_TEXT_NOT_FOUND', /other spaces/],
  ['a part that is there twice', 'fox, fox', 'fox', 'OLD_TEXT_NOT_UNIQUE', /more than once/],
  ['a part that overlaps itself', 'aaa', 'aa', 'OLD_TEXT_NOT_UNIQUE', /more than once/],
  ['nothing', 'The fox', '', 'VALIDATION_ERROR', /empty/],
];

for (const [what, whole, oldText, code, says] of refused) {
  test(`${what} is refused`, () => {
    assert.throws(
      () => replaceOnce(whole, oldText, 'x'),
      (error) => error instanceof ToolError && error.code === code && says.test(error.message),
    );
  });
}

const never = () => assert.fail('the text was read');

test('a whole text is taken as it is, without a look at what is there', async () => {
  assert.equal(await changedText({ text: 'New.' }, never), 'New.');
  assert.equal(await changedText({ text: '' }, never), '');
});

test('a part is replaced in the text as it is', async () => {
  assert.equal(await changedText({ oldText: 'red', newText: '' }, async () => 'A red fox'), 'A  fox');
});

const contradictions: TextChange[] = [
  {},
  { text: 'New.', oldText: 'a', newText: 'b' },
  { text: 'New.', newText: 'b' },
  { oldText: 'a' },
  { newText: 'b' },
];

for (const change of contradictions) {
  test(`${JSON.stringify(change)} is refused before anything is read`, async () => {
    await assert.rejects(changedText(change, never), { code: 'VALIDATION_ERROR' });
  });
}
