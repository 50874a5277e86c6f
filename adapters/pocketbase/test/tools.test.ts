import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Application, failureOf, tapeTest } from '../../tape.ts';
import { containing } from '../src/api.ts';
import { signIn, token } from '../src/session.ts';
import { createRecord } from '../src/tools/create-record.ts';
import { deleteRecord } from '../src/tools/delete-record.ts';
import { getCollection } from '../src/tools/get-collection.ts';
import { getRecord } from '../src/tools/get-record.ts';
import { health } from '../src/tools/health.ts';
import { listAuthMethods } from '../src/tools/list-auth-methods.ts';
import { listCollections } from '../src/tools/list-collections.ts';
import { listRecords } from '../src/tools/list-records.ts';
import { listUsers } from '../src/tools/list-users.ts';
import { readSettings } from '../src/tools/read-settings.ts';
import { searchRecords } from '../src/tools/search-records.ts';
import { updateRecord } from '../src/tools/update-record.ts';

/** A token that says when it ends, and nothing else. */
const ending = (seconds: number) => `e30.${btoa(JSON.stringify({ exp: Date.now() / 1000 + seconds }))}.`;

const key = '__pb_superuser_auth__';

const pocketbase: Application = {
  name: 'pocketbase',
  async signedIn(live) {
    if (live === undefined) return { [key]: JSON.stringify({ token: ending(60) }) };
    const body = new URLSearchParams({ identity: 'alice@example.com', password: 'correct horse battery' });
    const url = `${live}api/collections/_superusers/auth-with-password`;
    return { [key]: await (await fetch(url, { method: 'POST', body })).text() };
  },
};

const some = { limit: 20, offset: 0, maxChars: 30 };
const books = { collection: 'books' };
const everything = { ...books, filter: '', sort: 'title', fields: '', expand: '', ...some };

tapeTest(pocketbase, 'collections and their schemas', async ({ ctx }) => {
  const found = await listCollections.handle({ search: 'book', system: false, ...some }, ctx);
  assert.deepEqual(found, {
    collections: [
      { name: 'books', type: 'base', fields: ['id', 'title', 'blurb', 'pages', 'created', 'updated'] },
    ],
    total: 1,
  });
  const schema = await getCollection.handle(books, ctx);
  assert.deepEqual(schema.fields[1], { name: 'title', type: 'text', required: true, options: { max: 80 } });
  assert.deepEqual([schema.rules.listRule, schema.rules.deleteRule], ['', null]);
  assert.equal((await failureOf(getCollection.handle({ collection: 'films' }, ctx))).code, 'NOT_FOUND');
});

tapeTest(pocketbase, 'records in pages, with long texts cut', async ({ ctx }) => {
  const first = await listRecords.handle({ ...everything, limit: 2 }, ctx);
  assert.deepEqual([first.total, first.nextOffset, first.records.length], [3, 2, 2]);
  assert.match(String(first.records[0]?.blurb), /^.{30}…$/);
  assert.equal('collectionId' in (first.records[0] ?? {}), false);
  const rest = await listRecords.handle({ ...everything, limit: 2, offset: 2 }, ctx);
  assert.deepEqual([rest.records.length, rest.nextOffset], [1, undefined]);
  const owl = await searchRecords.handle({ ...books, text: "owl's", ...some }, ctx);
  assert.deepEqual(
    owl.records.map(({ title }) => title),
    ["The owl's night"],
  );
  const broken = await failureOf(listRecords.handle({ ...everything, filter: 'pages <' }, ctx));
  assert.deepEqual([broken.code, broken.outcome], ['VALIDATION_ERROR', 'not_executed']);
  assert.match(broken.message, /Look at filter and sort/);
});

test('what to look for becomes a text of the filter language', () => {
  assert.equal(containing("owl's_"), String.raw`'owl\'s_'`);
  assert.equal(containing('50%'), "'%50%%'");
  assert.equal(containing('50%_'), String.raw`'%50%\_%'`);
  assert.equal(containing('C:\\'), String.raw`'%C:\\%'`);
});

tapeTest(pocketbase, 'a record is created, changed and deleted', async ({ ctx }) => {
  const created = await createRecord.handle({ ...books, fields: { title: 'The mole' } }, ctx);
  const one = { ...books, id: String(created.record.id) };
  const late = await failureOf(
    updateRecord.handle({ ...one, fields: { pages: 1 }, seenUpdated: '2020-01-01' }, ctx),
  );
  assert.deepEqual([late.code, late.outcome], ['CONFLICT', 'not_executed']);
  const seenUpdated = String(created.record.updated);
  const updated = await updateRecord.handle({ ...one, fields: { pages: 7 }, seenUpdated }, ctx);
  assert.equal(updated.record.pages, 7);
  const read = await getRecord.handle({ ...one, fields: 'pages', expand: '', maxChars: 100 }, ctx);
  assert.deepEqual(read.record, { pages: 7 });
  assert.deepEqual(await deleteRecord.handle(one, ctx), { collection: 'books', deleted: one.id });
  assert.equal((await failureOf(deleteRecord.handle(one, ctx))).code, 'NOT_FOUND');
});

tapeTest(pocketbase, 'a collection without times cannot say whether a record changed', async ({ ctx }) => {
  const authors = { collection: 'authors' };
  const { record } = await createRecord.handle({ ...authors, fields: { name: 'Robin' } }, ctx);
  const failure = await failureOf(
    updateRecord.handle(
      { ...authors, id: String(record.id), fields: { name: 'Wren' }, seenUpdated: 'x' },
      ctx,
    ),
  );
  assert.equal(failure.code, 'VALIDATION_ERROR');
});

tapeTest(pocketbase, 'users and settings, without secrets', async ({ ctx }) => {
  const { users } = await listUsers.handle({ collection: 'users', search: 'reader', ...some }, ctx);
  assert.deepEqual(
    users.map(({ email, name }) => [email, name]),
    [['reader@example.com', 'Robin']],
  );
  assert.equal((await listAuthMethods.handle({ collection: 'users' }, ctx)).password, true);
  const settings = await readSettings.handle({}, ctx);
  assert.deepEqual([settings.appName, settings.rateLimits], ['Acme', false]);
  assert.equal(JSON.stringify(settings).includes('ecret'), false);
});

tapeTest(pocketbase, 'what the server does not do', async ({ ctx }) => {
  const invalid = await failureOf(createRecord.handle({ ...books, fields: { title: '' } }, ctx));
  assert.match(invalid.message, /^PocketBase answered: Failed to create record\. title: Cannot be blank\./);
  assert.equal(invalid.code, 'VALIDATION_ERROR');
  const collapsed = await failureOf(createRecord.handle({ collection: 'fragile', fields: {} }, ctx));
  assert.deepEqual([collapsed.code, collapsed.outcome], ['INTERNAL_ERROR', 'unknown']);
});

tapeTest(pocketbase, 'signed out', async ({ ctx, signOut }) => {
  assert.equal(await signIn.isSignedIn(), true);
  signOut();
  assert.equal(await signIn.isSignedIn(), false);
  assert.equal((await health.handle({}, ctx)).signedIn, false);
  const refused = await failureOf(readSettings.handle({}, ctx));
  assert.equal(refused.code, 'AUTH_ERROR');
  assert.match(refused.message, /\/_\/#\/login/);
  for (const value of [
    '',
    '{}',
    '{"token":"x"}',
    '{"token":"a.%.b"}',
    JSON.stringify({ token: ending(-1) }),
  ]) {
    localStorage.setItem(key, value);
    assert.equal(token(), undefined, value);
  }
});
