import assert from 'node:assert/strict';
import { ToolError } from '@tabrelay/plugin-sdk';
import { addTopic } from '../src/tools/add-topic.ts';
import { categoryMembers } from '../src/tools/category-members.ts';
import { compareRevisions } from '../src/tools/compare-revisions.ts';
import { createPage } from '../src/tools/create-page.ts';
import { currentUser } from '../src/tools/current-user.ts';
import { editPage } from '../src/tools/edit-page.ts';
import { listFiles } from '../src/tools/list-files.ts';
import { pageCategories } from '../src/tools/page-categories.ts';
import { pageHistory } from '../src/tools/page-history.ts';
import { readDiscussion } from '../src/tools/read-discussion.ts';
import { readPage } from '../src/tools/read-page.ts';
import { readRendered } from '../src/tools/read-rendered.ts';
import { recentChanges } from '../src/tools/recent-changes.ts';
import { search } from '../src/tools/search.ts';
import { uploadFile } from '../src/tools/upload-file.ts';
import { watchList } from '../src/tools/watch-list.ts';
import { watchPage } from '../src/tools/watch-page.ts';
import { wikiTest } from './tape.ts';

/** The ToolError an action ends with. */
async function failureOf(action: Promise<unknown> | unknown): Promise<ToolError> {
  try {
    await action;
  } catch (error) {
    assert.ok(error instanceof ToolError, String(error));
    return error;
  }
  return assert.fail('the action succeeded');
}

const whole = { offset: 0, maxChars: 8000 };

wikiTest('search finds a page and says what it is about', {}, async ({ ctx }) => {
  const found = await search.handle({ query: 'mice', limit: 10, offset: 0 }, ctx);
  assert.equal(found.total, 1);
  assert.equal(found.results[0]?.title, 'Red fox');
  assert.match(found.results[0]?.snippet ?? '', /Mice/);
  assert.equal(found.nextOffset, undefined);
});

wikiTest('a page is read as wikitext with the revision to base an edit on', {}, async ({ ctx }) => {
  const page = await readPage.handle({ title: 'red fox', ...whole }, ctx);
  assert.equal(page.title, 'Red fox');
  assert.equal(page.contentModel, 'wikitext');
  assert.match(page.text, /^The '''red fox''' is a fox/);
  assert.ok(page.revisionId > 0);
});

wikiTest('one section, in pieces', {}, async ({ ctx }) => {
  const first = await readPage.handle({ title: 'Red fox', section: 1, offset: 0, maxChars: 10 }, ctx);
  assert.deepEqual([first.text, first.nextOffset], ['== Diet ==', 10]);
  const rest = await readPage.handle({ title: 'Red fox', section: 1, offset: 10, maxChars: 1000 }, ctx);
  assert.deepEqual([rest.text, rest.nextOffset], ['\n* Mice\n* Berries', undefined]);
});

wikiTest('a page is read as text, with its sections', {}, async ({ ctx }) => {
  const page = await readRendered.handle({ title: 'Red fox', ...whole }, ctx);
  assert.equal(page.text, 'The red fox is a fox.\n\n== Diet ==\n\n- Mice\n- Berries');
  assert.deepEqual(page.sections, [{ section: '1', level: 2, heading: 'Diet' }]);
});

wikiTest('a page, a section and a revision that do not exist', {}, async ({ ctx }) => {
  for (const action of [
    () => readPage.handle({ title: 'Blue fox', ...whole }, ctx),
    () => readPage.handle({ title: 'Red fox', section: 9, ...whole }, ctx),
    () => readRendered.handle({ title: 'Blue fox', ...whole }, ctx),
    () => pageHistory.handle({ title: 'Blue fox', limit: 10 }, ctx),
    () => compareRevisions.handle({ from: 999, to: 1000, ...whole }, ctx),
  ]) {
    const { code, category } = await failureOf(action());
    assert.deepEqual([code, category], ['NOT_FOUND', 'not_found']);
  }
});

wikiTest('a title that cannot be', {}, async ({ ctx }) => {
  const failure = await failureOf(readPage.handle({ title: 'Fox[]', ...whole }, ctx));
  assert.equal(failure.code, 'VALIDATION_ERROR');
});

wikiTest('what has no text, and a revision with none after it', {}, async ({ ctx }) => {
  const special = await failureOf(readPage.handle({ title: 'Special:Version', ...whole }, ctx));
  assert.equal(special.code, 'VALIDATION_ERROR');
  assert.match(special.message, /Special:Version.* neither a text nor a history/);
  const { revisionId } = await readPage.handle({ title: 'Red fox', ...whole }, ctx);
  const newest = await failureOf(compareRevisions.handle({ from: revisionId, ...whole }, ctx));
  assert.equal(newest.code, 'NOT_FOUND');
});

wikiTest('a heading stays on its line', { as: 'Alice' }, async ({ ctx }) => {
  await createPage.handle({ title: 'Cape fox', text: 'Sand.', summary: '' }, ctx);
  const topic = { title: 'Cape fox', text: 'Where?' };
  await addTopic.handle({ ...topic, heading: 'Range\n\n== Other ==\n' }, ctx);
  const { topics } = await readDiscussion.handle({ title: 'Cape fox', ...whole }, ctx);
  assert.deepEqual(topics, [{ section: '1', heading: 'Range == Other ==' }]);
  const empty = await failureOf(addTopic.handle({ ...topic, heading: ' \n' }, ctx));
  assert.equal(empty.code, 'VALIDATION_ERROR');
});

wikiTest('signed out there is no user, no watch list and no edit', {}, async ({ ctx }) => {
  const user = await currentUser.handle({}, ctx);
  assert.deepEqual([user.signedIn, user.name, user.wiki], [false, '', 'Test wiki']);
  const { revisionId } = await readPage.handle({ title: 'Red fox', ...whole }, ctx);
  for (const action of [
    () => watchList.handle({ limit: 10 }, ctx),
    () => watchPage.handle({ title: 'Red fox', watched: true }, ctx),
    () => createPage.handle({ title: 'Grey fox', text: 'Grey.', summary: '' }, ctx),
    () =>
      editPage.handle(
        { title: 'Red fox', baseRevisionId: revisionId, text: 'x', summary: '', minor: false },
        ctx,
      ),
  ]) {
    const failure = await failureOf(action());
    assert.deepEqual([failure.code, failure.category, failure.retryable], ['AUTH_ERROR', 'auth', false]);
    assert.equal(failure.outcome, 'not_executed');
    assert.match(failure.message, /\/index\.php\?title=Special:UserLogin/);
  }
});

wikiTest('signed in, a page is created, edited and compared', { as: 'Alice' }, async ({ ctx }) => {
  assert.equal((await currentUser.handle({}, ctx)).name, 'Alice');
  const created = await createPage.handle({ title: 'Arctic fox', text: 'A fox.', summary: 'start' }, ctx);
  assert.equal(created.changed, true);
  const again = await failureOf(createPage.handle({ title: 'Arctic fox', text: 'B', summary: '' }, ctx));
  assert.deepEqual([again.code, again.outcome], ['PAGE_EXISTS', 'not_executed']);

  const edit = { title: 'Arctic fox', baseRevisionId: created.revisionId, summary: 'colour', minor: true };
  const saved = await editPage.handle({ ...edit, text: 'A white fox.' }, ctx);
  assert.deepEqual([saved.changed, saved.previousRevisionId], [true, created.revisionId]);
  const same = await editPage.handle(
    { ...edit, baseRevisionId: saved.revisionId, text: 'A white fox.' },
    ctx,
  );
  assert.equal(same.changed, false);

  const history = await pageHistory.handle({ title: 'Arctic fox', limit: 1 }, ctx);
  assert.deepEqual(
    history.revisions.map(({ user, comment, minor }) => ({ user, comment, minor })),
    [{ user: 'Alice', comment: 'colour', minor: true }],
  );
  assert.ok(history.next);
  const older = await pageHistory.handle({ title: 'Arctic fox', limit: 1, olderThan: history.next }, ctx);
  assert.equal(older.revisions[0]?.comment, 'start');
  const compared = await compareRevisions.handle({ from: created.revisionId, ...whole }, ctx);
  assert.equal(compared.text, '@ Line 1:\n- A fox.\n+ A white fox.');
});

wikiTest(
  'an edit on an old revision is a conflict and changes nothing',
  { as: 'Alice' },
  async ({ ctx, meanwhile }) => {
    const base = await createPage.handle({ title: 'Fennec', text: 'Ears.', summary: '' }, ctx);
    await meanwhile('Fennec', 'Large ears.');
    const failure = await failureOf(
      editPage.handle(
        { title: 'Fennec', baseRevisionId: base.revisionId, text: 'Ears!', summary: '', minor: false },
        ctx,
      ),
    );
    assert.deepEqual(
      [failure.code, failure.category, failure.retryable, failure.outcome],
      ['EDIT_CONFLICT', 'validation', false, 'not_executed'],
    );
    assert.match(failure.message, /by Bob/);
    assert.equal((await readPage.handle({ title: 'Fennec', ...whole }, ctx)).text, 'Large ears.');
  },
);

wikiTest('a watched page shows in the watch list', { as: 'Alice' }, async ({ ctx, meanwhile }) => {
  await createPage.handle({ title: 'Swift fox', text: 'Swift.', summary: '' }, ctx);
  assert.deepEqual(await watchPage.handle({ title: 'Swift fox', watched: true }, ctx), {
    title: 'Swift fox',
    watched: true,
  });
  await meanwhile('Swift fox', 'Very swift.');
  const list = await watchList.handle({ limit: 1 }, ctx);
  assert.deepEqual([list.changes[0]?.title, list.changes[0]?.user], ['Swift fox', 'Bob']);
  assert.deepEqual(await watchPage.handle({ title: 'Swift fox', watched: false }, ctx), {
    title: 'Swift fox',
    watched: false,
  });
});

const withConfig = (origin: string) =>
  `<head><script>RLCONF={"wgScriptPath":"","wgServer":"${origin}"};</script></head>`;

wikiTest(
  'a page without a discovery link: the API is found in its configuration',
  { page: withConfig },
  async ({ ctx }) => {
    assert.equal((await currentUser.handle({}, ctx)).wiki, 'Test wiki');
  },
);

wikiTest('a page that is not of a wiki', { page: () => '<h1>Something else</h1>' }, async ({ ctx }) => {
  const failure = await failureOf(currentUser.handle({}, ctx));
  assert.deepEqual([failure.code, failure.outcome], ['NOT_A_WIKI_PAGE', 'not_executed']);
});

wikiTest('signed in, a page is put into a category and discussed', { as: 'Alice' }, async ({ ctx }) => {
  const text = 'Small.\n\n[[Category:Foxes]]';
  await createPage.handle({ title: 'Kit fox', text, summary: 'a fox' }, ctx);
  const list = { limit: 10 };
  const { categories } = await pageCategories.handle({ title: 'Kit fox', ...list }, ctx);
  assert.deepEqual(categories, [{ name: 'Foxes', hidden: false }]);
  for (const category of ['Foxes', 'Category:Foxes']) {
    const { members } = await categoryMembers.handle({ category, kind: 'all', ...list }, ctx);
    assert.deepEqual(members, [{ title: 'Kit fox', kind: 'page' }]);
  }
  assert.deepEqual(
    (await categoryMembers.handle({ category: 'Foxes', kind: 'file', ...list }, ctx)).members,
    [],
  );

  const none = await readDiscussion.handle({ title: 'Kit fox', ...whole }, ctx);
  assert.deepEqual([none.talkPage, none.exists, none.topics], ['Talk:Kit fox', false, []]);
  const topic = { title: 'Kit fox', heading: 'Ears', text: 'Are they large?' };
  assert.equal((await addTopic.handle(topic, ctx)).title, 'Talk:Kit fox');
  await addTopic.handle({ ...topic, heading: 'Tail', text: 'Long. ~~~~' }, ctx);
  for (const title of ['Kit fox', 'Talk:Kit fox']) {
    const talk = await readDiscussion.handle({ title, ...whole }, ctx);
    assert.deepEqual(
      talk.topics.map(({ heading }) => heading),
      ['Ears', 'Tail'],
    );
    assert.match(talk.text, /Are they large\? Alice \(talk\)/);
  }
  const { changes } = await recentChanges.handle({ kind: 'new', user: 'Alice', limit: 2 }, ctx);
  assert.deepEqual(
    changes.map(({ title, kind }) => [title, kind]),
    [
      ['Talk:Kit fox', 'new'],
      ['Kit fox', 'new'],
    ],
  );
});

const dot =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

wikiTest('files are uploaded once and listed', { as: 'Alice' }, async ({ ctx }) => {
  const file = { name: 'Red dot.png', contentBase64: dot, description: 'A dot.', summary: '' };
  const uploaded = await uploadFile.handle(file, ctx);
  assert.deepEqual(
    [uploaded.title, uploaded.mime, uploaded.width, uploaded.height],
    ['File:Red dot.png', 'image/png', 1, 1],
  );
  assert.equal((await failureOf(uploadFile.handle(file, ctx))).code, 'FILE_EXISTS');
  const twice = await failureOf(uploadFile.handle({ ...file, name: 'Same dot.png' }, ctx));
  assert.deepEqual([twice.code, twice.outcome], ['UPLOAD_REFUSED', 'not_executed']);
  const wrong = await failureOf(uploadFile.handle({ ...file, name: 'Dot.exe' }, ctx));
  assert.equal(wrong.code, 'UPLOAD_REFUSED');
  assert.equal(
    (await failureOf(uploadFile.handle({ ...file, contentBase64: 'data:,x' }, ctx))).code,
    'VALIDATION_ERROR',
  );
  for (const how of [{}, { prefix: 'Red' }]) {
    const { files } = await listFiles.handle({ ...how, limit: 5 }, ctx);
    assert.deepEqual(
      files.map(({ title, user }) => [title, user]),
      [['File:Red dot.png', 'Alice']],
    );
  }
  assert.deepEqual((await listFiles.handle({ prefix: 'Blue', limit: 5 }, ctx)).files, []);
});

wikiTest('what does not exist has no categories and no discussion', {}, async ({ ctx }) => {
  for (const action of [
    () => pageCategories.handle({ title: 'Blue fox', limit: 10 }, ctx),
    () => readDiscussion.handle({ title: 'Blue fox', ...whole }, ctx),
  ]) {
    assert.equal((await failureOf(action())).code, 'NOT_FOUND');
  }
  const topic = addTopic.handle({ title: 'Red fox', heading: 'Hi', text: 'Hello' }, ctx);
  assert.equal((await failureOf(topic)).code, 'AUTH_ERROR');
  const file = { name: 'A.png', contentBase64: dot, description: '', summary: '' };
  assert.equal((await failureOf(uploadFile.handle(file, ctx))).code, 'AUTH_ERROR');
  const foreign = recentChanges.handle({ kind: 'all', user: 'No[]body', limit: 1 }, ctx);
  assert.equal((await failureOf(foreign)).code, 'VALIDATION_ERROR');
});
