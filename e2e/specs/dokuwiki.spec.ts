// An agent works on a DokuWiki in the name of the person who signed in to it with its own form.

import { z } from 'zod';
import { openTeamWiki, signInToWiki, type TeamWiki } from '../sites/dokuwiki.ts';
import { Closing } from '../stage/closing.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

const Saved = z.object({ id: z.string(), changed: z.boolean(), revision: z.number() });
const Part = z.object({ text: z.string(), nextOffset: z.number().optional() });
const History = z.object({
  revisions: z.array(z.object({ revision: z.number(), user: z.string() })),
  next: z.string().optional(),
});

interface WikiStage extends Stage {
  wiki: TeamWiki;
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
      const wiki = await openTeamWiki(closing);
      const stage = await openStage(closing, {
        plugins: { dokuwiki: { settings: { url: `${wiki.url}/` } } },
      });
      await use({ ...stage, wiki });
      await closing.close();
    },
    { scope: 'worker' },
  ],
  wikiStage: async ({ wikiGround: stage }, use) => {
    await stage.browser.clearCookies();
    await visit(stage, stage.wiki.page('start'));
    await use(stage);
  },
});

/** A page that Bob wrote; answers its revision. */
async function fox(wiki: TeamWiki, id: string): Promise<number> {
  const bob = await wiki.as('bob');
  await bob.save(id, '====== Fox ======\n\nA fox.\n\n  * Mice', 'begun');
  const [revision = 0] = await bob.revisions(id);
  return revision;
}

const signIn = ({ page, wiki }: WikiStage) => signInToWiki(page, wiki, 'alice');

wikiTest(
  'the agent finds, reads and edits; the edit stands under the name of the person',
  async ({ wikiStage }) => {
    const { agent, page, wiki } = wikiStage;
    const id = 'animals:red_fox';
    const base = await fox(wiki, id);
    await (await wiki.as('bob')).save('zoo', 'See [[animals:red fox]].');
    await wiki.index();
    await signIn(wikiStage);
    expect((await agent.call('dokuwiki__current_user')).value).toEqual({
      signedIn: true,
      login: 'alice',
      name: 'Alice',
      groups: ['user', 'editor'],
      permission: 'delete',
      wiki: 'Team wiki',
    });
    expect(
      (await agent.call('dokuwiki__search', { query: 'mice', namespace: 'animals' })).value,
    ).toMatchObject({
      results: [{ id, snippet: expect.stringContaining('Mice') }],
      signedIn: true,
    });
    expect((await agent.call('dokuwiki__list_pages', { namespace: 'animals' })).value).toMatchObject({
      entries: expect.arrayContaining([{ id, kind: 'page', title: 'Fox' }]),
    });
    expect((await agent.call('dokuwiki__read_rendered', { id })).value).toMatchObject({
      text: '= Fox =\n\nA fox.\n\n- Mice',
    });
    expect((await agent.call('dokuwiki__backlinks', { id })).value).toMatchObject({ pages: ['zoo'] });
    const source = (await agent.call('dokuwiki__read_page', { id: 'Animals:Red Fox' })).value;
    expect(source).toMatchObject({ id, revision: base, user: 'bob' });

    const part = { id, baseRevision: base, oldText: 'A fox', newText: 'A red fox', summary: 'Colour' };
    const edit = Saved.parse((await agent.call('dokuwiki__edit_page', part)).value);
    expect(edit).toMatchObject({ id, changed: true });
    expect(await wiki.text(id)).toContain('A red fox.');
    expect((await agent.call('dokuwiki__page_history', { id })).value).toMatchObject({
      revisions: [
        { revision: edit.revision, user: 'alice', summary: 'Colour', minor: false },
        { revision: base, user: 'bob' },
      ],
    });
    expect((await agent.call('dokuwiki__compare_revisions', { id, from: base })).value).toMatchObject({
      to: edit.revision,
      text: expect.stringContaining('- A fox.\n+ A red fox.'),
    });
    expect((await agent.call('dokuwiki__recent_changes', { namespace: 'animals' })).value).toMatchObject({
      changes: [{ id, kind: 'page', user: 'alice', summary: 'Colour' }],
    });
    for (const [oldText, code] of [
      ['Rats', 'OLD_TEXT_NOT_FOUND'],
      ['=====', 'OLD_TEXT_NOT_UNIQUE'],
    ]) {
      const answer = await agent.call('dokuwiki__edit_page', {
        ...part,
        baseRevision: edit.revision,
        oldText,
      });
      expect(answer).toMatchObject({ code, facts: { outcome: 'not_executed' } });
    }
    // A refused edit leaves no lock: Bob may go on.
    await (await wiki.as('bob')).save(id, 'Bob goes on.');
    await page.goto(wiki.page(id));
    await expect(page.getByText('Bob goes on.')).toBeVisible();
  },
);

wikiTest('signed out, changes are AUTH_ERROR and say where to sign in', async ({ wikiStage }) => {
  const { agent, wiki } = wikiStage;
  const id = 'animals:swift_fox';
  const baseRevision = await fox(wiki, id);
  expect((await agent.call('dokuwiki__current_user')).value).toMatchObject({
    signedIn: false,
    permission: 'read',
  });
  for (const [tool, args] of Object.entries({
    edit_page: { id, baseRevision, text: 'Vandalism' },
    create_page: { id: 'animals:new_fox', text: 'Vandalism' },
    delete_page: { id, baseRevision },
    read_page: { id: 'private:plan' },
    list_subscriptions: { id },
  })) {
    const answer = await agent.call(`dokuwiki__${tool}`, args);
    expect(answer.pageFields, tool).toEqual({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
    expect(answer.facts.outcome).toBe('not_executed');
    expect(answer.text).toContain(`${wiki.url}/doku.php?do=login`);
  }
  expect(await wiki.text(id)).toContain('A fox.');
});

for (const somebody of ['bob', 'alice'] as const) {
  wikiTest(
    `an edit on an old revision conflicts with one by ${somebody}, and changes nothing`,
    async ({ wikiStage }) => {
      const { agent, wiki } = wikiStage;
      const id = `animals:fox_of_${somebody}`;
      const baseRevision = await fox(wiki, id);
      await signIn(wikiStage);
      await (await wiki.as(somebody)).save(id, 'Rewritten meanwhile.');
      for (const [tool, more] of Object.entries({
        edit_page: { text: 'Written from the old text.' },
        delete_page: {},
        revert_page: { revision: baseRevision },
      })) {
        const answer = await agent.call(`dokuwiki__${tool}`, { id, baseRevision, ...more });
        expect(answer.pageFields).toEqual({
          code: 'EDIT_CONFLICT',
          category: 'validation',
          retryable: false,
        });
        expect(answer.text).toContain(`by ${somebody}`);
        expect(answer.facts.outcome).toBe('not_executed');
      }
      expect((await wiki.text(id)).trim()).toBe('Rewritten meanwhile.');
    },
  );
}

wikiTest('a page that somebody is editing is locked, by whom and how long', async ({ wikiStage }) => {
  const { agent, wiki } = wikiStage;
  const id = 'animals:kit_fox';
  const baseRevision = await fox(wiki, id);
  await signIn(wikiStage);
  await (await wiki.as('bob')).edit(id);
  const answer = await agent.call('dokuwiki__edit_page', { id, baseRevision, text: 'Mine.' });
  expect(answer.pageFields).toMatchObject({ code: 'PAGE_LOCKED', category: 'internal', retryable: true });
  expect(answer.text).toMatch(/bob.*\(15 min\)/);
  expect(answer.facts.outcome).toBe('not_executed');
  await wiki.unlock(id);
  const again = await agent.call('dokuwiki__edit_page', { id, baseRevision, text: 'Mine.' });
  expect(again.value).toMatchObject({ changed: true });
});

wikiTest('what the person has not saved yet is not lost', async ({ wikiStage }) => {
  const { agent, wiki } = wikiStage;
  const id = 'animals:grey_fox';
  const baseRevision = await fox(wiki, id);
  await signIn(wikiStage);
  await (await wiki.as('alice')).keepDraft(id, 'Half a sentence');
  const answer = await agent.call('dokuwiki__edit_page', { id, baseRevision, text: 'Mine.' });
  expect(answer.pageFields).toEqual({ code: 'UNSAVED_DRAFT', category: 'validation', retryable: false });
  expect(await wiki.text(id)).toContain('A fox.');
});

wikiTest('creating, deleting, bringing back', async ({ wikiStage }) => {
  const { agent, wiki } = wikiStage;
  await signIn(wikiStage);
  const page = { id: 'Animals:Arctic Fox', text: '====== Arctic fox ======\n\nWhite & "cold" <b>.' };
  const created = Saved.parse((await agent.call('dokuwiki__create_page', page)).value);
  const id = 'animals:arctic_fox';
  expect(created).toMatchObject({ id, changed: true });
  expect(await wiki.text(id)).toBe(page.text);
  expect((await agent.call('dokuwiki__create_page', page)).pageFields).toEqual({
    code: 'PAGE_EXISTS',
    category: 'validation',
    retryable: false,
  });
  const empty = { id, baseRevision: created.revision, text: '\n' };
  expect((await agent.call('dokuwiki__edit_page', empty)).code).toBe('VALIDATION_ERROR');
  const deleted = await agent.call('dokuwiki__delete_page', { id, baseRevision: created.revision });
  expect(deleted.value).toMatchObject({ id, lastRevision: created.revision });
  expect(await wiki.text(id)).toBe('');
  expect((await agent.call('dokuwiki__read_page', { id })).code).toBe('NOT_FOUND');
  const { revisions } = History.parse((await agent.call('dokuwiki__page_history', { id })).value);
  const back = { id, revision: created.revision, baseRevision: revisions[0]?.revision, summary: 'Undone' };
  expect((await agent.call('dokuwiki__revert_page', back)).value).toMatchObject({ changed: true });
  expect(await wiki.text(id)).toBe(page.text);
});

const dot =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

wikiTest('files and subscriptions', async ({ wikiStage }) => {
  const { agent, page, wiki } = wikiStage;
  await signIn(wikiStage);
  const id = 'pictures:red_dot.png';
  const file = { id: 'pictures:Red dot.png', contentBase64: dot };
  expect((await agent.call('dokuwiki__upload_media', file)).value).toMatchObject({ id, bytes: 70 });
  expect((await agent.call('dokuwiki__upload_media', file)).code).toBe('FILE_EXISTS');
  const wrong = await agent.call('dokuwiki__upload_media', { ...file, id: 'pictures:dot.exe' });
  expect(wrong.pageFields).toEqual({ code: 'UPLOAD_REFUSED', category: 'validation', retryable: false });
  expect((await agent.call('dokuwiki__list_media', { namespace: 'pictures' })).value).toMatchObject({
    files: [{ id, pixels: '1x1' }],
  });
  const show = { id: 'gallery', text: `{{${id}}}` };
  expect((await agent.call('dokuwiki__create_page', show)).failed).toBe(false);
  await wiki.index();
  expect((await agent.call('dokuwiki__read_media', { id })).value).toMatchObject({
    type: 'image/png',
    bytes: 70,
    usedIn: ['gallery'],
  });
  await page.goto(wiki.page('gallery'));
  await expect(page.locator('img.media')).toHaveJSProperty('naturalWidth', 1);
  const used = await agent.call('dokuwiki__delete_media', { id });
  expect(used.pageFields).toEqual({ code: 'MEDIA_IN_USE', category: 'validation', retryable: false });
  expect(used.text).toContain('gallery');
  const other = { ...file, id: 'pictures:dot.png' };
  expect((await agent.call('dokuwiki__upload_media', other)).failed).toBe(false);
  expect((await agent.call('dokuwiki__delete_media', { id: other.id })).value).toMatchObject({
    deleted: true,
  });
  expect((await agent.call('dokuwiki__read_media', { id: other.id })).code).toBe('NOT_FOUND');
  expect(
    (await agent.call('dokuwiki__recent_changes', { kind: 'mediafiles', limit: 1 })).value,
  ).toMatchObject({
    changes: [{ id: other.id, kind: 'file', gone: true }],
    nextOffset: 1,
  });

  const subscribed = await agent.call('dokuwiki__subscribe', { id: 'gallery' });
  expect(subscribed.value).toMatchObject({ subscriptions: [{ target: 'gallery', style: 'every' }] });
  await agent.call('dokuwiki__subscribe', { id: 'gallery', subscribed: false });
  expect((await agent.call('dokuwiki__list_subscriptions', { id: 'gallery' })).value).toMatchObject({
    subscriptions: [],
  });
});

wikiTest(
  'long pages and histories are read in parts of the size an agent asks for',
  async ({ wikiStage }) => {
    const { agent, wiki } = wikiStage;
    const lines = Array.from(
      { length: 200 },
      (_, i) => `${i}. "Quoted" \\ 茶 🦊 and <nowiki>{{no}}</nowiki>.`,
    );
    const whole = lines.join('\n\n');
    const bob = await wiki.as('bob');
    for (const text of ['One.', 'Two.', whole]) await bob.save('long', text);
    let read = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const args = { id: 'long', offset, maxChars: 100_000, maxBytes: 3000 };
      const answer = await agent.call('dokuwiki__read_page', args);
      expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(3000);
      const part = Part.parse(answer.value);
      read += part.text;
      offset = part.nextOffset;
    }
    expect(read).toBe(whole);
    const seen: number[] = [];
    for (let olderThan: string | undefined, more = true; more; more = olderThan !== undefined) {
      const args = { id: 'long', maxBytes: 400, ...(olderThan ? { olderThan } : {}) };
      const answer = await agent.call('dokuwiki__page_history', args);
      const part = History.parse(answer.value);
      seen.push(...part.revisions.map(({ revision }) => revision));
      olderThan = part.next;
    }
    expect(seen).toEqual(await bob.revisions('long'));
  },
);

wikiTest('a session that ends while the page stays open is noticed', async ({ wikiStage }) => {
  const { agent, browser, wiki } = wikiStage;
  await signIn(wikiStage);
  const fox = { id: 'animals:bat-eared_fox', text: 'Ears.' };
  await browser.clearCookies();
  const answer = await agent.call('dokuwiki__create_page', fox);
  expect(answer.pageFields).toEqual({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
  expect(await wiki.text(fox.id)).toBe('');
});

wikiTest('what the wiki refuses', async ({ wikiStage }) => {
  const { agent, wiki } = wikiStage;
  const id = 'animals:guarded_fox';
  const baseRevision = await fox(wiki, id);
  await (await wiki.as('root')).save('rules:house', 'Be kind.');
  await signIn(wikiStage);
  const { revisions } = History.parse(
    (await agent.call('dokuwiki__page_history', { id: 'rules:house' })).value,
  );
  for (const [tool, args] of Object.entries({
    edit_page: { id: 'rules:house', baseRevision: revisions[0]?.revision, text: 'Be loud.' },
    create_page: { id: 'rules:mine', text: 'Mine.' },
    upload_media: { id: 'rules:dot.png', contentBase64: dot },
    read_page: { id: 'private:plan' },
  })) {
    const answer = await agent.call(`dokuwiki__${tool}`, args);
    expect(answer.pageFields, tool).toEqual({
      code: 'PERMISSION_DENIED',
      category: 'auth',
      retryable: false,
    });
    expect(answer.facts.outcome).toBe('not_executed');
  }
  // Of the package's own list.
  const spam = { id, baseRevision, text: 'Buy at mattressreview.biz' };
  const blocked = await agent.call('dokuwiki__edit_page', spam);
  expect(blocked.pageFields).toEqual({ code: 'EDIT_REFUSED', category: 'validation', retryable: false });
  expect(blocked.facts.outcome).toBe('not_executed');
  expect(await wiki.text(id)).toContain('A fox.');

  await wiki.configure(`$conf['disableactions'] = 'recent,subscribe';`);
  expect((await agent.call('dokuwiki__recent_changes')).code).toBe('ACTION_DISABLED');

  await wiki.configure(`http_response_code(503); exit('Service Unavailable');`);
  const broken = await agent.call('dokuwiki__current_user', {});
  expect(broken.block).toMatchObject({ retryable: true });
  expect(broken.text).toContain('503');
});
