// The extension leaves out of a text what the relay does: both read this table.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isSecretName, redact, redactHeader, redactValue } from '../src/browser/dev/redact.ts';

const read: unknown = JSON.parse(
  readFileSync(new URL('../../relay/road/fault/testdata/redact.json', import.meta.url), 'utf8'),
);
const table = Array.isArray(read) ? read.filter((row) => Array.isArray(row) && row.length === 2) : [];

test('credentials are left out of texts, and nothing else', () => {
  assert.ok(table.length > 100);
  for (const [text, want] of table) {
    assert.equal(redact(String(text)), want);
    assert.equal(redact(String(want)), want, 'again');
  }
});

test('2,000 names of fields of public APIs are told apart as the relay does', () => {
  const lines = readFileSync(
    new URL('../../relay/road/fault/testdata/fieldnames.txt', import.meta.url),
    'utf8',
  )
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  assert.equal(lines.length, 2000);
  const wrong = lines.filter(([name = '', kind]) => isSecretName(name) !== (kind === 'secret'));
  assert.deepEqual(wrong, []);
});

test('what has the name of a credential is left out of data', () => {
  assert.deepEqual(
    redactValue({
      author: 'Ada',
      tokens: 5,
      token: 'abc',
      pins: ['a'],
      accessTokens: ['a', 'b'],
      nested: [{ password: 'x', note: '{"secret":"y"}', hasPassword: true }],
      headers: [{ name: 'Authorization', value: 'abc' }],
    }),
    {
      author: 'Ada',
      tokens: 5,
      token: '[redacted]',
      pins: ['a'],
      accessTokens: '[redacted]',
      nested: [{ password: '[redacted]', note: '{"secret":"[redacted]"}', hasPassword: true }],
      headers: [{ name: 'Authorization', value: '[redacted]' }],
    },
  );
  assert.equal(redactHeader('Cookie', 'a=b'), '[redacted]');
  assert.equal(redactHeader('Location', '/x?token=abc&a=1'), '/x?token=[redacted]&a=1');
  assert.equal(redactHeader('Content-Type', 'text/html; charset=utf-8'), 'text/html; charset=utf-8');
});
