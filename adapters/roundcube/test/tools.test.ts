import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { failureOf, type Recording, type Session, tapeTest } from '../../cookie-tape.ts';
import '../src/index.ts'; // what the plugin says of its sign-in holds for its requests
import { parse } from '../src/api.ts';
import { listFolders } from '../src/tools/list-folders.ts';
import { listMessages } from '../src/tools/list-messages.ts';
import { markMessages } from '../src/tools/mark-messages.ts';
import { moveMessages } from '../src/tools/move-messages.ts';
import { readMessage } from '../src/tools/read-message.ts';
import { sendMessage } from '../src/tools/send-message.ts';

const stranger: Recording = {
  folder: path.join(import.meta.dirname, '../testdata'),
  live: process.env.TAPE_OF,
  page: () => '<script src="program/js/app.min.js"></script>',
  blank: (text) =>
    text
      // Of a page only what the adapter reads of it.
      .replaceAll(
        /<(head|script|style)\b[^>]*>.*?<\/\1>/gs,
        (part) =>
          `<script>${(part.match(/rcmail\.set_env\(.*\);|set_unread_message\(/g) ?? []).join(' ')}</script>`,
      )
      .replaceAll(/(_token=|_token" value="|request_token":")[^"&]+/g, '$1TOKEN')
      .replaceAll(/(_id=|_id" value="|remove_compose_data\(\\")[0-9a-f]{16,}/g, '$1ID')
      .replaceAll(/(session_id|compose_id|user_id|search_request)":"[^"]*/g, '$1":"ID'),
};

const ann: Recording = {
  ...stranger,
  async signIn(session: Session) {
    const form = await (await session.fetch(new Request(`${session.origin}/`))).text();
    const token = /name="_token" value="([^"]*)"/.exec(form)?.[1] ?? '';
    const body = new URLSearchParams({
      _token: token,
      _task: 'login',
      _action: 'login',
      _user: 'ann',
      _pass: 'correct-horse-battery',
    });
    await session.fetch(new Request(`${session.origin}/?_task=login`, { method: 'POST', body }));
  },
};

const all = { searchIn: ['subject' as const], only: 'all' as const, limit: 10, offset: 0 };
const whole = { offset: 0, maxChars: 8000 };

tapeTest('nobody is signed in', stranger, async (ctx) => {
  for (const action of [
    () => listFolders.handle({}, ctx),
    () => listMessages.handle({ folder: 'INBOX', ...all }, ctx),
    () => sendMessage.handle({ to: 'ben@example.org', subject: 'x', text: 'x' }, ctx),
  ]) {
    const failure = await failureOf(action);
    assert.deepEqual([failure.code, failure.outcome], ['AUTH_ERROR', 'not_executed']);
    assert.match(failure.message, /http:\/\/\S+\/\?_task=login/);
  }
});

tapeTest('mail is listed and read', ann, async (ctx) => {
  const { folders } = await listFolders.handle({}, ctx);
  assert.ok(folders.some(({ path, kind }) => path === 'Trash' && kind === 'trash'));
  const { messages } = await listMessages.handle({ folder: 'INBOX', ...all }, ctx);
  const [lunch] = messages;
  assert.deepEqual([lunch?.subject, lunch?.people], ['Lunch', 'Ben <ben@example.org>']);
  const message = await readMessage.handle({ folder: 'INBOX', uid: 1, ...whole }, ctx);
  assert.deepEqual([message.subject, message.to, message.text], ['Lunch', 'ann@example.org', 'At noon?']);
});

test('commands are read, and what is no command is left out', () => {
  const script = 'this.a(1,"x);\\n",{"b":[true]});\nthis.b(function() {});\nalert(1);\nthis.c();\n';
  assert.deepEqual(parse(script), [
    { name: 'a', args: [1, 'x);\n', { b: [true] }] },
    { name: 'c', args: [] },
  ]);
});

tapeTest('what is missing or refused', ann, async (ctx) => {
  const inbox = { folder: 'INBOX', uids: [99] };
  for (const action of [
    () => readMessage.handle({ folder: 'INBOX', uid: 99, ...whole }, ctx),
    () => listMessages.handle({ folder: 'Nowhere', ...all }, ctx),
    () => markMessages.handle({ ...inbox, as: 'read' }, ctx),
    () => moveMessages.handle({ ...inbox, uids: [1], to: 'Nowhere' }, ctx),
  ]) {
    assert.equal((await failureOf(action)).code, 'NOT_FOUND');
  }
  for (const [to, code] of [
    ['nobody@example.org', 'MAIL_REFUSED'],
    ['nobody', 'VALIDATION_ERROR'],
  ] as const) {
    const failure = await failureOf(() => sendMessage.handle({ to, subject: 'x', text: 'x' }, ctx));
    assert.deepEqual([failure.code, failure.outcome], [code, 'not_executed']);
  }
});
