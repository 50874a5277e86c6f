// An agent works on a wiki in the name of the person who signed in to it with its own form.

import { z } from 'zod';
import { openWiki, type Wiki } from '../sites/mediawiki.ts';
import { Closing } from '../stage/closing.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

const password = 'correct horse battery';

const Part = z.object({ text: z.string(), nextOffset: z.number().optional() });
const History = z.object({
  revisions: z.array(z.object({ revisionId: z.number() })),
  next: z.string().optional(),
});

interface WikiStage extends Stage {
  wiki: Wiki;
}

/**
 * One wiki and one browser for all. Each test begins signed out and works on pages of its own; the last one breaks
 * the wiki.
 */
const wikiTest = test.extend<{ wikiStage: WikiStage }, { wikiGround: WikiStage }>({
  wikiGround: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const wiki = await openWiki(closing);
      await wiki.addUser('Alice', password);
      await wiki.addUser('Bob', password);
      const stage = await openStage(closing, {
        plugins: { mediawiki: { settings: { url: `${wiki.url}/` } } },
      });
      await use({ ...stage, wiki });
      await closing.close();
    },
    { scope: 'worker' },
  ],
  wikiStage: async ({ wikiGround: stage }, use) => {
    await stage.browser.clearCookies();
    await visit(stage, stage.wiki.page('Main Page'));
    await use(stage);
  },
});

/** A page that Bob wrote. */
async function fox(wiki: Wiki, title: string): Promise<string> {
  await wiki.save(title, `The ${title.toLowerCase()} is a fox.\n\n== Diet ==\nMice.`, 'Bob');
  return title;
}

/** What a person does who wants to edit: opens the form and types. */
async function signIn({ page, wiki }: WikiStage): Promise<void> {
  await page.goto(wiki.page('Main Page'));
  await page.getByRole('link', { name: 'Log in' }).click();
  await page.getByLabel('Username').fill('Alice');
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('link', { name: 'Alice', exact: true })).toBeVisible();
}

wikiTest(
  'the agent searches, reads and edits; the edit stands under the name of the person',
  async ({ wikiStage }) => {
    const { agent, wiki } = wikiStage;
    await fox(wiki, 'Red fox');
    await signIn(wikiStage);
    expect((await agent.call('mediawiki__current_user')).value).toMatchObject({
      signedIn: true,
      name: 'Alice',
    });
    expect((await agent.call('mediawiki__search', { query: 'red fox' })).value).toMatchObject({
      results: [{ title: 'Red fox' }],
    });
    expect((await agent.call('mediawiki__read_rendered', { title: 'Red fox' })).value).toMatchObject({
      text: 'The red fox is a fox.\n\n== Diet ==\n\nMice.',
    });
    const source = (await agent.call('mediawiki__read_page', { title: 'Red fox' })).structured;
    expect(source).toMatchObject({ text: 'The red fox is a fox.\n\n== Diet ==\nMice.' });
    const [base] = await wiki.history('Red fox');
    const edit = await agent.call('mediawiki__edit_page', {
      title: 'Red fox',
      baseRevisionId: base?.id,
      text: 'The red fox (Vulpes vulpes) is a fox.\n\n== Diet ==\nMice.',
      summary: 'Latin name',
    });
    const [now, before] = await wiki.history('Red fox');
    expect(edit.value).toEqual({
      title: 'Red fox',
      changed: true,
      revisionId: now?.id,
      previousRevisionId: before?.id,
    });
    expect(now).toMatchObject({ user: 'Alice', comment: 'Latin name' });
    expect(now?.text).toContain('Vulpes vulpes');
    expect(before?.user).toBe('Bob');

    const part = { title: 'Red fox', baseRevisionId: now?.id, oldText: 'Mice', newText: 'Mice and berries' };
    expect((await agent.call('mediawiki__edit_page', { ...part, section: 1 })).value).toMatchObject({
      changed: true,
    });
    const [latest] = await wiki.history('Red fox');
    expect(latest?.text).toBe('The red fox (Vulpes vulpes) is a fox.\n\n== Diet ==\nMice and berries.');
    for (const [oldText, code] of [
      ['Rats', 'OLD_TEXT_NOT_FOUND'],
      ['fox', 'OLD_TEXT_NOT_UNIQUE'],
    ]) {
      const refused = { ...part, baseRevisionId: latest?.id, oldText };
      expect(await agent.call('mediawiki__edit_page', refused)).toMatchObject({
        code,
        facts: { outcome: 'not_executed' },
      });
    }
  },
);

wikiTest('signed out, the same edit is AUTH_ERROR and says where to sign in', async ({ wikiStage }) => {
  const { agent, wiki } = wikiStage;
  const title = await fox(wiki, 'Swift fox');
  const [base] = await wiki.history(title);
  const answer = await agent.call('mediawiki__edit_page', {
    title,
    baseRevisionId: base?.id,
    text: 'Vandalism',
  });
  expect(answer.pageFields).toEqual({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
  expect(answer.facts.outcome).toBe('not_executed');
  expect(answer.text).toContain(`${wiki.url}/index.php?title=Special:UserLogin`);
  expect(await wiki.history(title)).toHaveLength(1);
});

for (const somebody of ['Bob', 'Alice']) {
  wikiTest(
    `an edit on an old revision conflicts with one by ${somebody} and changes nothing`,
    async ({ wikiStage }) => {
      const { agent, wiki } = wikiStage;
      const title = await fox(wiki, `Fox of ${somebody}`);
      await signIn(wikiStage);
      const [base] = await wiki.history(title);
      await wiki.save(title, 'Rewritten meanwhile.', somebody);
      const answer = await agent.call('mediawiki__edit_page', {
        title,
        baseRevisionId: base?.id,
        text: 'Written from the old text.',
      });
      expect(answer.pageFields).toEqual({ code: 'EDIT_CONFLICT', category: 'validation', retryable: false });
      expect(answer.facts.outcome).toBe('not_executed');
      const history = await wiki.history(title);
      expect(history).toHaveLength(2);
      expect(history[0]?.text).toBe('Rewritten meanwhile.');
    },
  );
}

wikiTest('creating, comparing, watching', async ({ wikiStage }) => {
  const { agent, wiki } = wikiStage;
  await signIn(wikiStage);
  const created = await agent.call('mediawiki__create_page', { title: 'Arctic fox', text: 'A white fox.' });
  expect(created.value).toMatchObject({ changed: true });
  expect((await agent.call('mediawiki__create_page', { title: 'Arctic fox', text: 'Again.' })).code).toBe(
    'PAGE_EXISTS',
  );
  expect((await agent.call('mediawiki__watch_page', { title: 'Arctic fox' })).value).toMatchObject({
    watched: true,
  });
  await wiki.save('Arctic fox', 'A fox that is white in winter.', 'Bob');
  const history = await wiki.history('Arctic fox');
  expect(
    (await agent.call('mediawiki__compare_revisions', { from: history[1]?.id, to: history[0]?.id })).value,
  ).toMatchObject({
    text: expect.stringContaining('+ A fox that is white in winter.'),
  });
  expect((await agent.call('mediawiki__watch_list', { limit: 2 })).value).toMatchObject({
    changes: [
      { title: 'Arctic fox', user: 'Bob' },
      { title: 'Arctic fox', user: 'Alice' },
    ],
  });
  expect((await agent.call('mediawiki__page_history', { title: 'Arctic fox' })).value).toMatchObject({
    revisions: [{ user: 'Bob' }, { user: 'Alice' }],
  });
  expect((await agent.call('mediawiki__read_page', { title: 'Blue fox' })).code).toBe('NOT_FOUND');
});

const dot =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

wikiTest('categories, talk pages, files and recent changes', async ({ wikiStage }) => {
  const { agent, page, wiki } = wikiStage;
  await signIn(wikiStage);
  const fox = { title: 'Kit fox', text: 'Small.\n\n[[Category:Foxes]]' };
  expect((await agent.call('mediawiki__create_page', fox)).failed).toBe(false);
  expect((await agent.call('mediawiki__page_categories', { title: 'Kit fox' })).value).toMatchObject({
    categories: [{ name: 'Foxes', hidden: false }],
  });
  expect((await agent.call('mediawiki__category_members', { category: 'Foxes' })).value).toEqual({
    members: [{ title: 'Kit fox', kind: 'page' }],
  });
  const topic = { title: 'Kit fox', heading: 'Ears', text: 'Are they large?' };
  expect((await agent.call('mediawiki__add_topic', topic)).value).toMatchObject({ title: 'Talk:Kit fox' });
  expect((await agent.call('mediawiki__read_discussion', { title: 'Kit fox' })).value).toMatchObject({
    exists: true,
    topics: [{ heading: 'Ears' }],
    text: expect.stringContaining('Are they large? Alice (talk)'),
  });
  const file = { name: 'Red dot.png', contentBase64: dot, description: 'A dot.' };
  const uploaded = await agent.call('mediawiki__upload_file', file);
  expect(uploaded.value).toMatchObject({
    title: 'File:Red dot.png',
    mime: 'image/png',
    width: 1,
    user: 'Alice',
  });
  expect((await agent.call('mediawiki__upload_file', file)).code).toBe('FILE_EXISTS');
  expect((await agent.call('mediawiki__list_files')).value).toMatchObject({
    files: [{ title: 'File:Red dot.png' }],
  });
  expect((await agent.call('mediawiki__recent_changes', { user: 'Alice', limit: 3 })).value).toMatchObject({
    changes: [
      { title: 'File:Red dot.png', kind: 'upload' },
      { title: 'Talk:Kit fox', kind: 'new' },
      { title: 'Kit fox', kind: 'new' },
    ],
  });
  await page.goto(wiki.page('File:Red dot.png'));
  await expect(page.getByText('A dot.')).toBeVisible();
});

wikiTest('a long page is read in parts of the size an agent asks for', async ({ wikiStage }) => {
  const { agent, wiki } = wikiStage;
  const lines = Array.from({ length: 400 }, (_, i) => `${i}. "Quoted" \\ 茶 🦊 and <nowiki>{{no}}</nowiki>.`);
  const whole = lines.join('\n\n');
  await wiki.save('Long fox', whole, 'Bob');
  for (const maxBytes of [400, 3000, 20_000]) {
    let read = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const args = { title: 'Long fox', offset, maxChars: 100_000, maxBytes };
      const answer = await agent.call('mediawiki__read_page', args);
      expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(maxBytes);
      expect(answer.texts).toHaveLength(1); // nothing was cut, and nothing is warned of
      const part = Part.parse(answer.value);
      if (part.nextOffset !== undefined)
        expect(Buffer.byteLength(answer.text)).toBeGreaterThan(maxBytes - 16);
      read += part.text;
      offset = part.nextOffset;
    }
    expect(read).toBe(whole);
  }
  const none = await agent.call('mediawiki__read_page', { title: 'Long fox', maxBytes: 60 });
  expect(none.code).toBe('OUTPUT_TOO_LARGE');
  expect(none.texts.join()).toMatch(/maxBytes of at least \d+/);
});

wikiTest(
  'a history that does not fit goes on at the first revision that is not there',
  async ({ wikiStage }) => {
    const { agent, wiki } = wikiStage;
    const title = await fox(wiki, 'Much edited fox');
    for (let i = 1; i <= 6; i++) await wiki.save(title, `Text ${i}`, 'Bob');
    const seen: number[] = [];
    for (let olderThan: string | undefined, more = true; more; more = olderThan !== undefined) {
      const args = { title, limit: 20, maxBytes: 500, ...(olderThan ? { olderThan } : {}) };
      const answer = await agent.call('mediawiki__page_history', args);
      expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(500);
      const { revisions, next } = History.parse(answer.value);
      seen.push(...revisions.map(({ revisionId }) => revisionId));
      olderThan = next;
    }
    expect(seen).toEqual((await wiki.history(title)).map(({ id }) => id));
  },
);

wikiTest('a session that ends while the page stays open is noticed', async ({ wikiStage }) => {
  const { agent, browser, wiki } = wikiStage;
  await signIn(wikiStage);
  expect((await agent.call('mediawiki__watch_list')).failed).toBe(false);
  await browser.clearCookies();
  const fox = { title: 'Grey fox', text: 'Grey.' };
  for (const answer of [
    await agent.call('mediawiki__watch_list'),
    await agent.call('mediawiki__create_page', fox),
  ]) {
    expect(answer.pageFields).toEqual({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
    expect(answer.text).toContain(`${wiki.url}/index.php?title=Special:UserLogin`);
  }
});

wikiTest('what the wiki refuses', async ({ wikiStage }) => {
  const { agent, wiki } = wikiStage;
  const title = await fox(wiki, 'Guarded fox');
  await signIn(wikiStage);
  await wiki.script('protect', '--user', 'Bob', title);
  const [base] = await wiki.history(title);
  const edit = { title, baseRevisionId: base?.id, text: 'Better.' };
  const isProtected = await agent.call('mediawiki__edit_page', edit);
  expect(isProtected.pageFields).toEqual({ code: 'PAGE_PROTECTED', category: 'auth', retryable: false });
  expect((await agent.call('mediawiki__read_page', { title: 'Fox[]' })).code).toBe('VALIDATION_ERROR');
  expect((await agent.call('mediawiki__read_page', { tittle: 'Fox' })).code).toBe('VALIDATION_ERROR');

  await wiki.become('limited');
  expect((await agent.call('mediawiki__create_page', { title: 'One', text: '1' })).failed).toBe(false);
  const limited = await agent.call('mediawiki__create_page', { title: 'Two', text: '2' });
  expect(limited.pageFields).toEqual({
    code: 'RATE_LIMITED',
    category: 'rate_limit',
    retryable: true,
    retryAfterMs: 60_000,
  });
  expect(limited.facts.outcome).toBe('not_executed');

  await wiki.become('read-only');
  const closed = await agent.call('mediawiki__watch_page', { title });
  expect(closed.pageFields).toMatchObject({ code: 'WIKI_READ_ONLY', retryable: true });

  await wiki.become('broken');
  const broken = await agent.call('mediawiki__current_user', {});
  expect(broken.block).toMatchObject({ retryable: true });
  expect(broken.text).toContain('503');
  expect(await wiki.script('getText', title)).toContain('The guarded fox is a fox.');
});
