import assert from 'node:assert/strict';
import path from 'node:path';
import { failureOf, type Recording, type Session, tapeTest } from '../../cookie-tape.ts';
import { backlinks } from '../src/tools/backlinks.ts';
import { compareRevisions } from '../src/tools/compare-revisions.ts';
import { createPage } from '../src/tools/create-page.ts';
import { currentUser } from '../src/tools/current-user.ts';
import { deleteMedia } from '../src/tools/delete-media.ts';
import { deletePage } from '../src/tools/delete-page.ts';
import { editPage } from '../src/tools/edit-page.ts';
import { listMedia } from '../src/tools/list-media.ts';
import { listPages } from '../src/tools/list-pages.ts';
import { listSubscriptions } from '../src/tools/list-subscriptions.ts';
import { pageHistory } from '../src/tools/page-history.ts';
import { readMedia } from '../src/tools/read-media.ts';
import { readPage } from '../src/tools/read-page.ts';
import { readRendered } from '../src/tools/read-rendered.ts';
import { recentChanges } from '../src/tools/recent-changes.ts';
import { revertPage } from '../src/tools/revert-page.ts';
import { search } from '../src/tools/search.ts';
import { subscribe } from '../src/tools/subscribe.ts';
import { uploadMedia } from '../src/tools/upload-media.ts';

const visitor: Recording = {
  folder: path.join(import.meta.dirname, '../testdata'),
  live: process.env.TAPE_OF,
  page: (origin) => `<link rel="stylesheet" href="${origin}/lib/exe/css.php?t=dokuwiki">`,
  // What stands around the pages says nothing to the adapter, and tokens worry whoever finds them.
  blank: (text) =>
    text
      .replaceAll(/<svg.*?<\/svg>/gs, '')
      .replaceAll(/<footer.*?<\/footer>|<!--.*?-->|<meta [^>]*>|<link rel="(?!search)[^>]*>\n?/gs, '')
      .replaceAll(/<div id="dokuwiki__sitetools">.*?(?=<\/header>)/gs, '')
      .replaceAll(/<div class="(headings|mobileTools|breadcrumbs|docInfo)\b.*?<\/div>/gs, '')
      .replaceAll(/<nav id="dokuwiki__pagetools".*?<\/nav>/gs, '')
      .replaceAll(/[0-9a-f]{32}/g, 'TOKEN')
      .replaceAll(/^date=\d+|&date=\d+/gm, '&date=1')
      .replaceAll(/-{4,}(WebKitFormBoundary|formdata-undici-)\w+/g, '------BOUNDARY'),
};

const alice: Recording = {
  ...visitor,
  async signIn(session: Session) {
    const body = new URLSearchParams({ do: 'login', sectok: '', u: 'alice', p: 'correct horse battery' });
    await session.fetch(new Request(`${session.origin}/doku.php`));
    await session.fetch(new Request(`${session.origin}/doku.php`, { method: 'POST', body }));
  },
};

const whole = { offset: 0, maxChars: 8000 };
const some = { limit: 10, offset: 0 };
const said = { summary: '', minor: false };

tapeTest('a visitor finds and reads a page', visitor, async (ctx) => {
  const found = await search.handle({ query: 'berries', sort: 'hits', ...some }, ctx);
  assert.equal(found.signedIn, false);
  assert.equal(found.results[0]?.id, 'animals:fox');
  assert.match(found.results[0]?.snippet ?? '', /Mice/);
  const named = await search.handle({ query: 'fox', namespace: 'animals', sort: 'mtime', ...some }, ctx);
  assert.deepEqual(
    named.results.map(({ id }) => id),
    ['animals:fox'],
  );
  const page = await readPage.handle({ id: 'Animals:Fox', ...whole }, ctx);
  assert.deepEqual([page.id, page.user], ['animals:fox', 'bob']);
  assert.match(page.text, /^====== Red fox ======\n\nA red fox\./);
  const part = await readPage.handle({ id: 'animals:fox', offset: 0, maxChars: 6 }, ctx);
  assert.deepEqual([part.text, part.nextOffset], ['======', 6]);
  const rendered = await readRendered.handle({ id: 'animals:fox', ...whole }, ctx);
  assert.match(rendered.text, /^= Red fox =\n\nA red fox\.\n\n== Diet ==\n\n- Mice\n- Berries$/);
});

tapeTest('a visitor sees what there is and what has changed', visitor, async (ctx) => {
  assert.deepEqual((await listPages.handle({ namespace: '', ...some }, ctx)).entries, [
    { id: 'animals', kind: 'namespace' },
    { id: 'rules', kind: 'namespace' },
    { id: 'start', kind: 'page', title: 'Welcome' },
  ]);
  assert.deepEqual((await listPages.handle({ namespace: ':animals:', ...some }, ctx)).entries, [
    { id: 'animals:fox', kind: 'page', title: 'Red fox' },
  ]);
  assert.deepEqual((await listPages.handle({ namespace: 'nowhere', ...some }, ctx)).entries, []);
  const history = await pageHistory.handle({ id: 'animals:fox', limit: 10 }, ctx);
  assert.deepEqual(
    history.revisions.map(({ user, summary, gone }) => [user, summary, gone]),
    [
      ['bob', 'red', false],
      ['bob', 'begun', false],
    ],
  );
  const [now, before] = history.revisions;
  const old = { id: 'animals:fox', revision: before?.revision ?? 0 };
  assert.match((await readPage.handle({ ...old, ...whole }, ctx)).text, /\n\nA fox\./);
  for (const to of [{}, { to: now?.revision ?? 0 }]) {
    const compared = await compareRevisions.handle(
      { id: 'animals:fox', from: old.revision, ...to, ...whole },
      ctx,
    );
    assert.match(compared.text, /- A fox\.\n\+ A red fox\./);
    assert.equal(compared.to, now?.revision);
  }
  const all = { kind: 'pages', namespace: '', ...some } as const;
  const { changes } = await recentChanges.handle(all, ctx);
  assert.deepEqual(
    changes.map(({ id, kind }) => [id, kind]),
    [
      ['rules:house', 'page'],
      ['animals:fox', 'page'],
      ['start', 'page'],
    ],
  );
  const animals = await recentChanges.handle({ ...all, namespace: 'animals', limit: 1 }, ctx);
  assert.deepEqual([animals.changes.length, animals.nextOffset], [1, undefined]);
  assert.deepEqual((await backlinks.handle({ id: 'animals:fox', ...some }, ctx)).pages, ['start']);
  assert.deepEqual((await backlinks.handle({ id: 'start', ...some }, ctx)).pages, []);
});

tapeTest('what is not there', visitor, async (ctx) => {
  for (const action of [
    () => readPage.handle({ id: 'animals:blue', ...whole }, ctx),
    () => readPage.handle({ id: 'animals:fox', revision: 7, ...whole }, ctx),
    () => readRendered.handle({ id: 'animals:blue', ...whole }, ctx),
    () => pageHistory.handle({ id: 'animals:blue', limit: 10 }, ctx),
    () => compareRevisions.handle({ id: 'animals:fox', from: 7, ...whole }, ctx),
    () => readMedia.handle({ id: 'animals:blue.png' }, ctx),
  ]) {
    const { code, category, outcome } = await failureOf(action);
    assert.deepEqual([code, category, outcome], ['NOT_FOUND', 'not_found', 'not_executed']);
  }
  // Without letters it would be the start page.
  assert.equal(
    (await failureOf(() => readPage.handle({ id: '!?', ...whole }, ctx))).code,
    'VALIDATION_ERROR',
  );
  const nothing = search.handle({ query: '!?', sort: 'hits', ...some }, ctx);
  assert.equal((await failureOf(() => nothing)).code, 'VALIDATION_ERROR');
});

tapeTest('signed out there is no user, nothing private and no change', visitor, async (ctx) => {
  const user = await currentUser.handle({}, ctx);
  assert.deepEqual(user, {
    signedIn: false,
    login: '',
    name: '',
    groups: [],
    permission: 'read',
    wiki: 'Team wiki',
  });
  const { revision } = await readPage.handle({ id: 'animals:fox', ...whole }, ctx);
  for (const action of [
    () => readPage.handle({ id: 'private:plan', ...whole }, ctx),
    () => readPage.handle({ id: 'private:plan', revision: 7, ...whole }, ctx),
    () => readRendered.handle({ id: 'private:plan', ...whole }, ctx),
    () => listSubscriptions.handle({ id: 'animals:fox' }, ctx),
    () => createPage.handle({ id: 'animals:vixen', text: 'A vixen.', summary: '' }, ctx),
    () => editPage.handle({ id: 'animals:fox', baseRevision: revision, text: 'x', ...said }, ctx),
    () => deletePage.handle({ id: 'animals:fox', baseRevision: revision, summary: '' }, ctx),
    () => uploadMedia.handle({ id: 'animals:dot.png', contentBase64: dot }, ctx),
  ]) {
    const failure = await failureOf(action);
    assert.deepEqual(
      [failure.code, failure.category, failure.outcome],
      ['AUTH_ERROR', 'auth', 'not_executed'],
    );
    assert.match(failure.message, /http:\/\/\S+\/doku\.php\?do=login/);
  }
});

tapeTest('signed in a page is created, edited, compared, deleted and brought back', alice, async (ctx) => {
  const user = await currentUser.handle({ id: 'rules:house' }, ctx);
  assert.deepEqual(
    [user.signedIn, user.login, user.name, user.groups, user.permission],
    [true, 'alice', 'Alice', ['user', 'editor'], 'read'],
  );
  const id = 'animals:arctic_fox';
  const created = await createPage.handle(
    { id: 'Animals:Arctic Fox', text: 'A fox.\nWhite.', summary: 'new' },
    ctx,
  );
  assert.deepEqual([created.id, created.changed], [id, true]);
  assert.equal(
    (await failureOf(() => createPage.handle({ id, text: 'Again.', summary: '' }, ctx))).code,
    'PAGE_EXISTS',
  );
  const base = { id, baseRevision: created.revision, ...said };
  for (const [change, code] of [
    [{ oldText: 'Rats', newText: '' }, 'OLD_TEXT_NOT_FOUND'],
    [{ text: ' \n' }, 'VALIDATION_ERROR'],
    [{ oldText: '.', newText: '!' }, 'OLD_TEXT_NOT_UNIQUE'],
    [{}, 'VALIDATION_ERROR'],
  ] as const) {
    const { code: is, outcome } = await failureOf(() => editPage.handle({ ...base, ...change }, ctx));
    assert.equal(is, code);
    assert.notEqual(outcome, 'unknown');
  }
  const same = await editPage.handle({ ...base, text: 'A fox.\nWhite.' }, ctx);
  assert.deepEqual(same, { id, changed: false, revision: created.revision });
  const edited = await editPage.handle(
    { ...base, oldText: 'White', newText: 'White in winter', summary: 'when' },
    ctx,
  );
  assert.equal(edited.id, id);
  assert.equal((await readPage.handle({ id, ...whole }, ctx)).text, 'A fox.\nWhite in winter.');
  const gone = await deletePage.handle({ id, baseRevision: edited.revision, summary: '' }, ctx);
  assert.equal(gone.lastRevision, edited.revision);
  assert.equal((await failureOf(() => readPage.handle({ id, ...whole }, ctx))).code, 'NOT_FOUND');
  const { revisions } = await pageHistory.handle({ id, limit: 10 }, ctx);
  assert.equal(revisions[0]?.gone, true);
  const back = { id, revision: edited.revision, baseRevision: gone.revision, summary: '' };
  assert.equal((await revertPage.handle(back, ctx)).changed, true);
  assert.match((await readPage.handle({ id, ...whole }, ctx)).text, /White in winter/);
  const seen: number[] = [];
  for (let olderThan: string | undefined, more = true; more; more = olderThan !== undefined) {
    const part = await pageHistory.handle({ id, limit: 1, ...(olderThan ? { olderThan } : {}) }, ctx);
    seen.push(...part.revisions.map(({ revision }) => revision));
    olderThan = part.next;
  }
  assert.deepEqual(seen.slice(1), [gone.revision, edited.revision, created.revision]);
  const wrong = await failureOf(() => pageHistory.handle({ id, limit: 1, olderThan: 'yesterday' }, ctx));
  assert.equal(wrong.code, 'VALIDATION_ERROR');
});

tapeTest('an edit of an old revision is a conflict and changes nothing', alice, async (ctx) => {
  const { revisions } = await pageHistory.handle({ id: 'animals:fox', limit: 10 }, ctx);
  const old = { id: 'animals:fox', baseRevision: revisions[1]?.revision ?? 0, summary: '' };
  for (const action of [
    () => editPage.handle({ ...old, text: 'Mine.', minor: false }, ctx),
    () => deletePage.handle(old, ctx),
    () => revertPage.handle({ ...old, revision: old.baseRevision }, ctx),
  ]) {
    const failure = await failureOf(action);
    assert.deepEqual(
      [failure.code, failure.category, failure.outcome],
      ['EDIT_CONFLICT', 'validation', 'not_executed'],
    );
    assert.match(failure.message, new RegExp(`now at ${revisions[0]?.revision}, by bob`));
  }
});

tapeTest('what the rules of the wiki forbid', alice, async (ctx) => {
  const { revision } = await readPage.handle({ id: 'rules:house', ...whole }, ctx);
  for (const action of [
    () => readPage.handle({ id: 'private:plan', ...whole }, ctx),
    () => editPage.handle({ id: 'rules:house', baseRevision: revision, text: 'Be loud.', ...said }, ctx),
    () => createPage.handle({ id: 'rules:mine', text: 'Mine.', summary: '' }, ctx),
    () => uploadMedia.handle({ id: 'rules:dot.png', contentBase64: dot }, ctx),
  ]) {
    const failure = await failureOf(action);
    assert.deepEqual(
      [failure.code, failure.category, failure.outcome],
      ['PERMISSION_DENIED', 'auth', 'not_executed'],
    );
  }
});

const dot =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

tapeTest('files are uploaded once, listed, and deleted when no page has them', alice, async (ctx) => {
  const id = 'pictures:red_dot.png';
  const uploaded = await uploadMedia.handle({ id: 'pictures:Red dot.png', contentBase64: dot }, ctx);
  assert.deepEqual([uploaded.id, uploaded.bytes], [id, 70]);
  for (const [file, code] of [
    [{ id, contentBase64: dot }, 'FILE_EXISTS'],
    [{ id: 'pictures:dot.exe', contentBase64: dot }, 'UPLOAD_REFUSED'],
    [{ id: 'pictures:text.png', contentBase64: btoa('<script>alert(1)</script>') }, 'UPLOAD_REFUSED'],
    [{ id: 'pictures:large.png', contentBase64: btoa('x'.repeat(2 * 1024 * 1024 + 1)) }, 'MEDIA_TOO_LARGE'],
    [{ id: 'pictures:dot.png', contentBase64: 'data:,x' }, 'VALIDATION_ERROR'],
  ] as const) {
    const failure = await failureOf(() => uploadMedia.handle(file, ctx));
    assert.equal(failure.code, code, failure.message);
  }
  const listed = await listMedia.handle({ namespace: 'pictures', ...some }, ctx);
  assert.deepEqual(
    listed.files.map((file) => [file.id, file.pixels]),
    [[id, '1x1']],
  );
  assert.deepEqual((await listMedia.handle({ namespace: '', ...some }, ctx)).namespaces, ['pictures']);
  const matching = await listMedia.handle({ namespace: '', query: '*.png', ...some }, ctx);
  assert.deepEqual(
    matching.files.map((file) => file.id),
    [id],
  );
  const details = await readMedia.handle({ id }, ctx);
  assert.deepEqual([details.type, details.usedIn], ['image/png', []]);
  assert.deepEqual(await deleteMedia.handle({ id }, ctx), { id, deleted: true });
  assert.equal((await failureOf(() => readMedia.handle({ id }, ctx))).code, 'NOT_FOUND');
});

tapeTest('a subscription begins, changes and ends', alice, async (ctx) => {
  const page = { id: 'animals:fox', scope: 'page', style: 'every', subscribed: true } as const;
  assert.deepEqual((await listSubscriptions.handle({ id: page.id }, ctx)).subscriptions, []);
  const mail = { target: 'animals:fox', style: 'every' };
  assert.deepEqual((await subscribe.handle(page, ctx)).subscriptions, [mail]);
  assert.deepEqual((await subscribe.handle(page, ctx)).subscriptions, [mail]);
  const namespace = { ...page, scope: 'namespace', style: 'list' } as const;
  const both = (await subscribe.handle(namespace, ctx)).subscriptions;
  assert.deepEqual(both, [{ target: 'animals:', style: 'list' }, mail]);
  assert.equal((await subscribe.handle({ ...page, subscribed: false }, ctx)).subscriptions.length, 1);
  assert.deepEqual((await subscribe.handle({ ...namespace, subscribed: false }, ctx)).subscriptions, []);
  const wrong = await failureOf(() => subscribe.handle({ ...page, style: 'list' }, ctx));
  assert.equal(wrong.code, 'VALIDATION_ERROR');
});
