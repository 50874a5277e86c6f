import assert from 'node:assert/strict';
import path from 'node:path';
import { failureOf, type Recording, type Session, tapeTest } from '../../cookie-tape.ts';
import { createPost } from '../src/tools/create-post.ts';
import { currentUser } from '../src/tools/current-user.ts';
import { listComments } from '../src/tools/list-comments.ts';
import { listPosts } from '../src/tools/list-posts.ts';
import { listTerms } from '../src/tools/list-terms.ts';
import { readPost } from '../src/tools/read-post.ts';
import { trashPost } from '../src/tools/trash-post.ts';
import { updatePost } from '../src/tools/update-post.ts';

const visitor: Recording = {
  folder: path.join(import.meta.dirname, '../testdata'),
  live: process.env.TAPE_OF,
  page: (origin) => `<link rel="https://api.w.org/" href="${origin}/index.php?rest_route=/">`,
  blank: (text) =>
    text
      .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d/g, '2026-01-02T03:04:05')
      .replaceAll(/^[0-9a-f]{10}$/g, 'NONCE'),
};

const alice: Recording = {
  ...visitor,
  async signIn(session: Session) {
    const body = new URLSearchParams({ log: 'Alice', pwd: 'correct horse battery', testcookie: '1' });
    await session.fetch(new Request(`${session.origin}/wp-login.php`));
    await session.fetch(new Request(`${session.origin}/wp-login.php`, { method: 'POST', body }));
  },
};

const first = { limit: 10, offset: 0 };
const whole = { as: 'text', offset: 0, maxChars: 8000, type: 'post' } as const;

tapeTest('a visitor lists and reads', visitor, async (ctx) => {
  const posts = await listPosts.handle({ type: 'post', status: ['publish'], orderBy: 'date', ...first }, ctx);
  assert.deepEqual(
    posts.items.map(({ id, title, status }) => ({ id, title, status })),
    [{ id: 1, title: 'Hello world!', status: 'publish' }],
  );
  const post = await readPost.handle({ id: 1, ...whole, offset: 11, maxChars: 10 }, ctx);
  assert.deepEqual([post.content, post.nextOffset], ['WordPress.', 21]);
  const terms = await listTerms.handle({ kind: 'category', ...first }, ctx);
  assert.equal(terms.items[0]?.name, 'Uncategorized');
});

tapeTest('what a visitor may not do is AUTH_ERROR with the address to sign in', visitor, async (ctx) => {
  for (const action of [
    () => currentUser.handle({}, ctx),
    () => listComments.handle({ status: 'hold', ...first }, ctx),
    () => listPosts.handle({ type: 'post', status: ['draft'], orderBy: 'date', ...first }, ctx),
  ]) {
    const failure = await failureOf(action);
    assert.deepEqual(
      [failure.code, failure.category, failure.outcome],
      ['AUTH_ERROR', 'auth', 'not_executed'],
    );
    assert.match(failure.message, /http:\/\/\S+\/wp-login\.php/);
  }
});

tapeTest('an administrator writes, and meets what is wrong', alice, async (ctx) => {
  assert.deepEqual((await currentUser.handle({}, ctx)).roles, ['administrator']);
  const draft = await createPost.handle(
    { type: 'post', title: 'Tape', content: '<p>a</p>', status: 'draft' },
    ctx,
  );
  assert.deepEqual([draft.title, draft.status], ['Tape', 'draft']);
  const base = { id: draft.id, type: 'post' } as const;
  const changed = { ...base, baseModified: draft.modified, title: 'Taped' };
  assert.equal((await updatePost.handle(changed, ctx)).title, 'Taped');
  const stale = { ...changed, baseModified: '2001-01-01T00:00:00Z' };
  assert.equal((await failureOf(() => updatePost.handle(stale, ctx))).code, 'EDIT_CONFLICT');
  assert.equal((await trashPost.handle(base, ctx)).status, 'trash');
  assert.equal((await failureOf(() => trashPost.handle(base, ctx))).code, 'ALREADY_TRASHED');
  assert.equal((await failureOf(() => readPost.handle({ id: 999, ...whole }, ctx))).code, 'NOT_FOUND');
  const wrong = await failureOf(() =>
    createPost.handle({ type: 'post', title: 'x', status: 'draft', date: 'tomorrow' }, ctx),
  );
  assert.deepEqual([wrong.code, wrong.retryable], ['VALIDATION_ERROR', false]);
  assert.match(wrong.message, /date_gmt/);
});
