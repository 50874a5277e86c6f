// An agent works on a PocketBase in the name of the superuser who signed in to its dashboard.

import { z } from 'zod';
import { openPocketBase, type PocketBase, superuser } from '../sites/pocketbase.ts';
import { Closing } from '../stage/closing.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

interface PocketBaseStage extends Stage {
  pocketbase: PocketBase;
}

/** One PocketBase and one browser for all. Each test begins signed out; the last one limits the requests of guests. */
const pocketbaseTest = test.extend<
  { pocketbaseStage: PocketBaseStage },
  { pocketbaseGround: PocketBaseStage }
>({
  pocketbaseGround: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const pocketbase = await openPocketBase(closing);
      const settings = { url: pocketbase.dashboard };
      const stage = await openStage(closing, { plugins: { pocketbase: { settings } } });
      await use({ ...stage, pocketbase });
      await closing.close();
    },
    { scope: 'worker' },
  ],
  pocketbaseStage: async ({ pocketbaseGround: stage }, use) => {
    await stage.page.goto(stage.pocketbase.dashboard);
    await stage.page.evaluate(() => localStorage.clear());
    await stage.page.goto('about:blank'); // the dashboard's pages differ in the fragment only
    await visit(stage, `${stage.pocketbase.dashboard}#/login`);
    await use(stage);
  },
});

/** What a person does who opens the dashboard. */
async function signIn({ page }: Stage): Promise<void> {
  await page.getByLabel('Email').fill(superuser.email);
  await page.getByLabel('Password').fill(superuser.password);
  await page.getByRole('button', { name: 'Login' }).click();
  await expect(page.getByRole('button', { name: 'New collection' })).toBeVisible();
}

const Books = z.object({ records: z.array(z.looseObject({ id: z.string(), updated: z.string() })) });

pocketbaseTest('signed out, AUTH_ERROR; signed in, everything is read', async ({ pocketbaseStage }) => {
  const { agent, pocketbase } = pocketbaseStage;
  const call = async (tool: string, args = {}) => (await agent.call(`pocketbase__${tool}`, args)).value;
  expect(await call('health')).toMatchObject({ message: 'API is healthy.', signedIn: false });
  const refused = await agent.call('pocketbase__list_collections');
  expect(refused.pageFields).toEqual({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
  expect(refused.facts.outcome).toBe('not_executed');
  expect(refused.text).toContain(`${pocketbase.dashboard}#/login`);

  await signIn(pocketbaseStage);
  expect(await call('health')).toMatchObject({ signedIn: true, canBackup: true });
  expect(await call('list_collections')).toMatchObject({
    collections: [
      { name: 'authors' },
      { name: 'books', type: 'base' },
      { name: 'fragile' },
      { name: 'users' },
    ],
    total: 4,
  });
  expect(await call('get_collection', { collection: 'books' })).toMatchObject({
    fields: expect.arrayContaining([
      { name: 'title', type: 'text', required: true, options: { max: 80 } },
      { name: 'pages', type: 'number', required: false, options: { min: 1 } },
    ]),
    rules: { listRule: '', viewRule: null },
  });
  expect(
    await call('list_records', { collection: 'books', filter: 'pages < 100', sort: 'pages' }),
  ).toMatchObject({
    records: [{ title: 'The hare' }, { title: "The owl's night" }],
    total: 2,
  });
  expect(await call('list_records', { collection: 'books', limit: 2, fields: 'title' })).toMatchObject({
    nextOffset: 2,
  });
  expect(await call('search_records', { collection: 'books', text: "owl's", maxChars: 20 })).toMatchObject({
    records: [{ title: "The owl's night", blurb: '<p>An owl.</p>' }],
    total: 1,
  });
  for (const [text, total] of [
    ['owl%night', 1],
    ["wl's n%", 1],
    ['night\\', 0],
  ] as const) {
    expect(await call('search_records', { collection: 'books', text })).toMatchObject({ total });
  }
  expect(await call('list_users', { search: 'reader', verified: false })).toMatchObject({
    users: [{ email: 'reader@example.com', name: 'Robin', verified: false }],
    total: 1,
  });
  expect(JSON.stringify(await call('list_records', { collection: 'users' }))).not.toMatch(
    /tokenKey|password/,
  );
  expect(await call('list_auth_methods')).toMatchObject({
    password: true,
    identityFields: ['email'],
    oauth2: [],
  });
  expect(await call('read_settings')).toMatchObject({ appName: 'Acme', smtp: false, rateLimits: false });
});

pocketbaseTest('records are created, changed and deleted', async ({ pocketbaseStage }) => {
  const { agent, pocketbase } = pocketbaseStage;
  await signIn(pocketbaseStage);
  const change = (tool: string, args: Record<string, unknown>) =>
    agent.call(`pocketbase__${tool}`, { collection: 'books', ...args });
  const created = await change('create_record', { fields: { title: 'The mole', pages: 9 } });
  expect(created.value).toMatchObject({ record: { title: 'The mole', pages: 9 } });
  const [mole] = Books.parse((await change('search_records', { text: 'mole' })).structured).records;
  const id = mole?.id;
  await pocketbase.send('PATCH', `collections/books/records/${id}`, { pages: 10 });
  const late = await change('update_record', { id, fields: { pages: 11 }, seenUpdated: mole?.updated });
  expect(late.pageFields).toEqual({ code: 'CONFLICT', category: 'validation', retryable: false });
  expect((await change('get_record', { id })).value).toMatchObject({ record: { pages: 10 } });
  const updated = await change('update_record', { id, fields: { 'pages+': 5 } });
  expect(updated.value).toMatchObject({ record: { title: 'The mole', pages: 15 } });
  expect((await change('delete_record', { id })).value).toEqual({ collection: 'books', deleted: id });
  expect((await change('get_record', { id })).code).toBe('NOT_FOUND');
});

pocketbaseTest('failures are in the words of the server', async ({ pocketbaseStage }) => {
  const { agent, pocketbase, page } = pocketbaseStage;
  await signIn(pocketbaseStage);
  const fail = async (tool: string, args = {}) => {
    const answer = await agent.call(`pocketbase__${tool}`, args);
    return { ...answer.pageFields, text: answer.text, outcome: answer.facts.outcome };
  };
  const invalid = { collection: 'books', fields: { title: '', pages: 0.5 } };
  expect(await fail('create_record', invalid)).toMatchObject({
    code: 'VALIDATION_ERROR',
    outcome: 'not_executed',
    text: expect.stringMatching(/Failed to create record\. .*title: Cannot be blank\./),
  });
  expect(await fail('list_records', { collection: 'books', filter: 'pages <' })).toMatchObject({
    code: 'VALIDATION_ERROR',
  });
  expect(await fail('get_collection', { collection: 'films' })).toMatchObject({
    code: 'NOT_FOUND',
    text: expect.stringContaining('list_collections'),
  });
  expect(await fail('create_record', { collection: 'fragile', fields: { name: 'x' } })).toMatchObject({
    code: 'INTERNAL_ERROR',
    outcome: 'unknown',
    text: expect.stringContaining('The shelf has collapsed.'),
  });
  const logged = async () => (await agent.call('pocketbase__list_logs', { minLevel: 'error' })).value;
  await expect
    .poll(logged, { message: 'the log is written' })
    .toMatchObject({ logs: expect.arrayContaining([expect.objectContaining({ level: 'error' })]) });

  // Superusers have no limit, so it is a guest who meets it.
  const rule = { label: '/api/health', audience: '', duration: 60, maxRequests: 1 };
  await pocketbase.send('PATCH', 'settings', { rateLimits: { enabled: true, rules: [rule] } });
  await page.evaluate(() => localStorage.removeItem('__pb_superuser_auth__'));
  await agent.call('pocketbase__health');
  expect(await fail('health')).toMatchObject({
    code: 'RATE_LIMITED',
    category: 'rate_limit',
    retryable: true,
  });
});
