import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asker, questionText, waitingText } from '../src/worker/person/notifications.ts';
import { plain } from '../src/worker/util/text.ts';

test('words of others become one plain, short line', () => {
  for (const [text, want] of [
    ['Place an order', 'Place an order'],
    ['  a\n\tb\r\nc  ', 'a b c'],
    ['\u202etxt.exe\u2066', 'txt.exe'],
    ['zero\u200bwidth\ufeff', 'zero width'],
    ['line\u2028and\u2029paragraph', 'line and paragraph'],
    ['bell\u0007 and \u001b[31mred', 'bell and [31mred'],
    ['\u0000', ''],
  ] as const)
    assert.equal(plain(text), want);
  assert.equal(plain('x'.repeat(81)), `${'x'.repeat(79)}…`);
  assert.equal(plain('x'.repeat(80)).length, 80);
  assert.equal(plain('a b c d', 4), 'a b…');
});

test('a notification about any other call says tool, site and risk', () => {
  const asked = { title: 'Delete "all"\n', origin: 'https://shop.example', risk: 'destroys' };
  assert.equal(
    questionText(asked),
    'It wants to run “Delete "all"” at https://shop.example. It can delete or overwrite something.',
  );
  assert.equal(questionText({ title: 'Read', origin: '', risk: 'reads' }), 'It wants to run “Read”.');
  assert.equal(questionText({ title: 'Read', risk: 'constructor' }), 'It wants to run “Read”.');
  const long = `https://tabrelay.dev.${'a'.repeat(90)}.evil.example`;
  const text = questionText({ title: 'Read', origin: long });
  assert.ok(text.endsWith('.evil.example.') && text.includes(' at …aa') && !text.includes('tabrelay'), text);
  assert.ok(questionText({ title: 'x'.repeat(500), origin: 'y'.repeat(500) }).length < 200);
});

test('a notification about an act says what will be done to what, and where', () => {
  const act = { title: 'Click', origin: 'https://shop.example', risk: 'changes' };
  assert.equal(
    questionText({ ...act, brief: 'Click button "Pay now" on shop.example?' }),
    'Click button "Pay now" on shop.example? It can change something.',
  );
  assert.equal(questionText({ ...act, brief: 'a\n\u202eb' }), 'a b It can change something.');
  assert.ok(questionText({ ...act, brief: 'x'.repeat(5000) }).length < 450);
});

test('a notification says who asks, and that it comes from another machine', () => {
  assert.equal(asker({ client: 'ann' }), 'ann');
  assert.equal(asker({ agent: 'reader', client: 'ann' }), 'reader for ann');
  const machine = 'another machine (“this computer”, as far as it says)';
  assert.equal(asker({ client: 'ann', machine }), 'ann on another machine');
  assert.equal(asker({ agent: 'reader', client: 'ann', machine }), 'reader for ann on another machine');
});

test('how many questions wait', () => {
  assert.equal(waitingText(1), '1 question waits for you');
  assert.equal(waitingText(12), '12 questions wait for you');
});
