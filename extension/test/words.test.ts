// How the panel writes times, and texts of strangers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  actor,
  ago,
  dollars,
  duration,
  endingText,
  moment,
  plural,
  span,
  toolTitle,
  visible,
  visibleLine,
} from '../src/panel/words.ts';

test('characters that are not seen, or that turn text around, are written as their number', () => {
  for (const [text, written] of [
    ['invoice\u202efdp.exe', 'invoice⟨U+202E⟩fdp.exe'],
    ['a\u200bb', 'a⟨U+200B⟩b'],
    ['a\u0000b', 'a⟨U+0000⟩b'],
    ['a\u2028b', 'a⟨U+2028⟩b'],
    ['\u{e0041}', '⟨U+E0041⟩'],
    ['ㅤ', '⟨U+3164⟩'],
    ['two\nlines\tand ünïcode 漢字', 'two\nlines\tand ünïcode 漢字'],
  ] as const)
    assert.equal(visible(text), written);
  assert.equal(visibleLine('one\r\n\ttwo'), 'one two');
});

test('a point in time that Go left empty is none', () => {
  for (const none of [undefined, null, '', 'never', '0001-01-01T00:00:00Z'])
    assert.equal(moment(none), undefined);
  assert.equal(moment('2026-03-02T10:00:00Z'), Date.UTC(2026, 2, 2, 10));
});

test('spans of time are said in the unit that matters', () => {
  const said = [0, 999, 59_000, 60_000, 125_000, 3_600_000, 3_900_000, -5].map(span);
  assert.deepEqual(said, ['0 s', '1 s', '59 s', '1 min', '2 min 5 s', '1 h', '1 h 5 min', '0 s']);
  assert.deepEqual([12.4, 999, 1000].map(duration), ['12 ms', '999 ms', '1 s']);
  const now = Date.UTC(2026, 2, 2, 10);
  const past = [0, 59_000, 60_000, 3_600_000, 86_400_000, 200_000_000].map((ms) => ago(now - ms, now));
  assert.deepEqual(past, ['just now', 'just now', '1 min ago', '1 h ago', 'yesterday', '2 days ago']);
});

test('a tool without a title is called by its name, without its plugin', () => {
  assert.equal(toolTitle('wiki__edit_page', ''), 'Edit page');
  assert.equal(toolTitle('bridge_health', undefined), 'Bridge health');
  assert.equal(toolTitle('wiki__edit_page', 'Edit a page'), 'Edit a page');
});

test('a delegated agent is named with its client', () => {
  assert.equal(actor({ client: 'ann' }), 'ann');
  assert.equal(actor({ agent: '', client: 'ann' }), 'ann');
  assert.equal(actor({ agent: 'rea\u202eder', client: 'ann' }), 'rea⟨U+202E⟩der for ann');
});

test('how a call ended is said in words, whatever its code', () => {
  assert.deepEqual(['APPROVAL_TIMEOUT', 'TAB_OWNED', 'OF_A_PLUGIN', '', undefined].map(endingText), [
    'Nobody answered',
    'Another agent has the tab',
    'Failed',
    'Failed',
    'Failed',
  ]);
});

test('money is said in dollars and cents, and little of it is not nothing', () => {
  const said = [0, 0.0001, 0.0099, 0.01, 1.268, 1234.5, -0.001].map(dollars);
  assert.deepEqual(said, [
    '$0.00',
    'less than $0.01',
    'less than $0.01',
    '$0.01',
    '$1.27',
    '$1,234.50',
    '$0.00',
  ]);
});

test('one is singular', () => {
  assert.deepEqual(
    [0, 1, 2, 1200].map((n) => plural(n, 'tool')),
    ['0 tools', '1 tool', '2 tools', '1,200 tools'],
  );
  assert.equal(plural(2, 'entry', 'entries'), '2 entries');
});
