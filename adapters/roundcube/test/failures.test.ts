import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure } from '../src/failures.ts';

const said = {
  'SMTP Error (550): Failed to add recipient "x" (5.1.1 No such person).': ['MAIL_REFUSED', false],
  'SMTP-Fehler (550): Empfänger abgelehnt.': ['MAIL_REFUSED', false],
  'SMTP Error (451): Try again later.': ['MAIL_SERVER_ERROR', true],
  'SMTP Error (-1): Connection to server failed.': ['MAIL_SERVER_ERROR', true],
  'Connection to storage server failed.': ['MAIL_SERVER_ERROR', true],
  'Please wait 29 sec(s). before sending this message.': ['RATE_LIMITED', true],
  "Server Error: STATUS: Mailbox doesn't exist: Nope": ['NOT_FOUND', false],
  'Invalid email address: nobody': ['VALIDATION_ERROR', false],
};

for (const [words, [code, retryable]] of Object.entries(said)) {
  test(`${words} is ${code}`, () => {
    const thrown = failure(words);
    assert.deepEqual([thrown.code, thrown.retryable], [code, retryable]);
    assert.ok(thrown.message.startsWith(words));
  });
}
