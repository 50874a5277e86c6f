// An agent looks after a WordPress site in the name of the person who signed in to it with its own form.

import { type Blog, openBlog, signInToBlog } from '../sites/wordpress.ts';
import type { Answer } from '../stage/answer.ts';
import { Closing } from '../stage/closing.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

interface BlogStage extends Stage {
  blog: Blog;
}

/** One blog and one browser for all: each test works on posts of its own, and the last one breaks the blog. */
const blogTest = test.extend<object, { blogStage: BlogStage }>({
  blogStage: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const blog = await openBlog(closing);
      const stage = await openStage(closing, {
        plugins: { wordpress: { settings: { url: `${blog.url}/` } } },
      });
      await use({ ...stage, blog });
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

async function signIn({ page, blog, browser }: BlogStage, name: string): Promise<void> {
  await browser.clearCookies();
  await signInToBlog(page, blog, name);
}

const idOf = (answer: Answer): unknown => Reflect.get(Object(answer.value), 'id');
const modifiedOf = (answer: Answer): unknown => Reflect.get(Object(answer.value), 'modified');

blogTest('signed out: what visitors read, and AUTH_ERROR for everything else', async ({ blogStage }) => {
  const { agent, blog, browser } = blogStage;
  await browser.clearCookies();
  await visit(blogStage, `${blog.url}/`);
  expect((await agent.call('wordpress__list_posts')).value).toMatchObject({
    total: 1,
    items: [{ id: 1, title: 'Hello world!', status: 'publish' }],
  });
  expect((await agent.call('wordpress__read_post', { id: 1 })).value).toMatchObject({
    content: 'Welcome to WordPress. This is your first post. Edit or delete it, then start writing!',
  });
  expect((await agent.call('wordpress__list_terms', { kind: 'category' })).value).toMatchObject({
    items: [{ id: 1, name: 'Uncategorized', posts: 1 }],
  });
  expect((await agent.call('wordpress__list_comments')).value).toMatchObject({ total: 1 });
  expect((await agent.call('wordpress__list_users')).value).toMatchObject({ items: [{ name: 'Alice' }] });
  expect((await agent.call('wordpress__list_media')).value).toEqual({ total: 0, items: [] });
  for (const [tool, args] of Object.entries({
    current_user: {},
    read_settings: {},
    create_post: { title: 'Spam' },
    update_post: { id: 1, baseModified: '', title: 'Spam' },
    trash_post: { id: 1 },
    moderate_comment: { id: 1, status: 'spam' },
    add_comment: { postId: 1, text: 'Spam' },
    upload_media: { fileName: 'spam.txt', text: 'Spam' },
    create_term: { kind: 'tag', name: 'Spam' },
    // These are open to visitors, but not with such arguments.
    list_posts: { status: ['draft'] },
    read_post: { id: 1, as: 'source' },
    list_comments: { status: 'hold' },
  })) {
    const answer = await agent.call(`wordpress__${tool}`, args);
    expect(answer.pageFields, tool).toEqual({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
    expect(answer.facts.outcome).toBe('not_executed');
    expect(answer.text).toContain(`${blog.url}/wp-login.php`);
  }
});

blogTest('a post is drafted, published, changed and thrown away', async ({ blogStage }) => {
  const { agent, blog } = blogStage;
  await signIn(blogStage, 'Alice');
  expect((await agent.call('wordpress__current_user')).value).toMatchObject({
    name: 'Alice',
    roles: ['administrator'],
    site: 'Test blog',
  });
  const tag = await agent.call('wordpress__create_term', { kind: 'tag', name: 'Foxes' });
  expect((await agent.call('wordpress__create_term', { kind: 'tag', name: 'Foxes' })).code).toBe(
    'TERM_EXISTS',
  );
  const draft = await agent.call('wordpress__create_post', {
    title: 'Foxes & hounds',
    content: '<p>The <b>red</b> fox.</p><ul><li>Mice</li></ul>',
    tags: [idOf(tag)],
  });
  const id = idOf(draft);
  expect(draft.value).toMatchObject({ title: 'Foxes & hounds', status: 'draft' });
  expect(await blog.reads(`/?p=${id}`)).not.toContain('The <b>red</b> fox');
  expect((await agent.call('wordpress__list_posts', { status: ['draft'] })).value).toMatchObject({
    items: [{ id, title: 'Foxes & hounds' }],
  });
  const published = await agent.call('wordpress__update_post', {
    id,
    baseModified: modifiedOf(draft),
    status: 'publish',
  });
  expect(published.value).toMatchObject({ id, status: 'publish' });
  expect(await blog.reads(`/?p=${id}`)).toContain('The <b>red</b> fox');
  expect((await agent.call('wordpress__read_post', { id })).value).toMatchObject({
    content: 'The red fox.\n\n- Mice',
    tags: [idOf(tag)],
  });
  expect((await agent.call('wordpress__read_post', { id, as: 'source', maxChars: 200 })).value).toMatchObject(
    {
      content: '<p>The <b>red</b> fox.</p><ul><li>Mice</li></ul>',
    },
  );
  const part = {
    id,
    baseModified: modifiedOf(published),
    oldText: '<li>Mice</li>',
    newText: '<li>Hens</li>',
  };
  expect((await agent.call('wordpress__update_post', part)).value).toMatchObject({ id, status: 'publish' });
  expect(await blog.reads(`/?p=${id}`)).toMatch(/The <b>red<\/b> fox[\s\S]*<li>Hens<\/li>/);
  expect((await agent.call('wordpress__list_posts', { search: 'red', tag: idOf(tag) })).value).toMatchObject({
    total: 1,
    items: [{ id }],
  });
  expect((await agent.call('wordpress__trash_post', { id })).value).toMatchObject({ id, status: 'trash' });
  expect((await agent.call('wordpress__trash_post', { id })).code).toBe('ALREADY_TRASHED');
  expect((await agent.call('wordpress__list_posts', { status: ['trash'] })).value).toMatchObject({
    total: 1,
  });
  const page = await agent.call('wordpress__create_post', {
    type: 'page',
    title: 'Vixens',
    status: 'publish',
  });
  expect((await agent.call('wordpress__list_posts', { type: 'page', search: 'Vixens' })).value).toMatchObject(
    {
      items: [{ id: idOf(page), title: 'Vixens' }],
    },
  );
});

blogTest('an edit from an old text is EDIT_CONFLICT and changes nothing', async ({ blogStage }) => {
  const { agent, page, blog } = blogStage;
  await signIn(blogStage, 'Alice');
  const answer = await agent.call('wordpress__update_post', {
    id: 1,
    baseModified: '2001-01-01T00:00:00Z',
    title: 'Overwritten',
  });
  expect(answer.pageFields).toEqual({ code: 'EDIT_CONFLICT', category: 'validation', retryable: false });
  expect(answer.facts.outcome).toBe('not_executed');
  await page.goto(`${blog.url}/?p=1`);
  await expect(page).toHaveTitle(/Hello world!/);
});

blogTest('comments wait, are approved and answered', async ({ blogStage }) => {
  const { agent, blog } = blogStage;
  await signIn(blogStage, 'Alice');
  await blog.comment(1, 'Is this <i>true</i>?');
  const waiting = await agent.call('wordpress__list_comments', { status: 'hold' });
  expect(waiting.value).toMatchObject({
    total: 1,
    items: [{ author: 'A visitor', text: 'Is this true?', status: 'hold' }],
  });
  const [comment] = Reflect.get(Object(waiting.value), 'items');
  const approved = { id: comment.id, status: 'approved' };
  expect((await agent.call('wordpress__moderate_comment', approved)).value).toMatchObject(approved);
  const reply = { postId: 1, replyTo: comment.id, text: 'It is.' };
  expect((await agent.call('wordpress__add_comment', reply)).value).toMatchObject({
    replyTo: comment.id,
    author: 'Alice',
    text: 'It is.',
  });
  expect((await agent.call('wordpress__add_comment', reply)).code).toBe('DUPLICATE_COMMENT');
  expect(await blog.reads('/?p=1')).toContain('It is.');
});

blogTest('files are uploaded and found', async ({ blogStage }) => {
  const { agent, blog } = blogStage;
  await signIn(blogStage, 'Alice');
  const note = await agent.call('wordpress__upload_media', { fileName: 'note.txt', text: 'Grüße' });
  const { pathname } = new URL(Reflect.get(Object(note.value), 'url'));
  expect(await blog.reads(pathname)).toBe('Grüße');
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const picture = { fileName: 'dot.png', base64: pixel, altText: 'A dot' };
  expect((await agent.call('wordpress__upload_media', picture)).value).toMatchObject({
    mimeType: 'image/png',
    altText: 'A dot',
  });
  expect((await agent.call('wordpress__list_media', { kind: 'image' })).value).toMatchObject({
    total: 1,
    items: [{ title: 'dot' }],
  });
  expect((await agent.call('wordpress__upload_media', { fileName: 'a.php', text: '<?php' })).code).toBe(
    'UPLOAD_REFUSED',
  );
  for (const wrong of [{ text: 'a', base64: 'YQ==' }, {}, { base64: '???' }]) {
    const answer = await agent.call('wordpress__upload_media', { fileName: 'a.txt', ...wrong });
    expect(answer.code).toBe('VALIDATION_ERROR');
  }
});

blogTest('missing things, invalid input, and what an account may not do', async ({ blogStage }) => {
  const { agent } = blogStage;
  await signIn(blogStage, 'Alice');
  expect((await agent.call('wordpress__read_settings')).value).toMatchObject({ title: 'Test blog' });
  for (const [tool, args] of [
    ['read_post', { id: 999 }],
    ['update_post', { id: 999, baseModified: '' }],
    ['trash_post', { id: 999 }],
    ['moderate_comment', { id: 999, status: 'spam' }],
    ['create_term', { kind: 'category', name: 'Below', parent: 999 }],
  ] as const) {
    const { pageFields } = await agent.call(`wordpress__${tool}`, args);
    expect(pageFields, tool).toMatchObject({ code: 'NOT_FOUND', category: 'not_found' });
  }
  const invalid = await agent.call('wordpress__create_post', { title: 'Later', date: 'next week' });
  expect(invalid.pageFields).toMatchObject({ code: 'VALIDATION_ERROR', category: 'validation' });
  expect(invalid.text).toContain('date_gmt');

  await signIn(blogStage, 'Eve');
  for (const [tool, args] of [
    ['create_post', { title: 'Mine' }],
    ['read_settings', {}],
    ['moderate_comment', { id: 1, status: 'spam' }],
  ] as const) {
    const answer = await agent.call(`wordpress__${tool}`, args);
    expect(answer.pageFields, tool).toEqual({
      code: 'PERMISSION_DENIED',
      category: 'auth',
      retryable: false,
    });
  }
});

blogTest('a second comment within 15 s is RATE_LIMITED', async ({ blogStage }) => {
  const { agent } = blogStage;
  await signIn(blogStage, 'Bob');
  expect((await agent.call('wordpress__add_comment', { postId: 1, text: 'First' })).failed).toBe(false);
  const second = await agent.call('wordpress__add_comment', { postId: 1, text: 'Second' });
  expect(second.pageFields).toEqual({
    code: 'RATE_LIMITED',
    category: 'rate_limit',
    retryable: true,
    retryAfterMs: 15_000,
  });
});

blogTest('a session that ends while the page stays open is noticed', async ({ blogStage }) => {
  const { agent, browser, blog } = blogStage;
  await signIn(blogStage, 'Alice');
  expect((await agent.call('wordpress__current_user')).failed).toBe(false);
  await browser.clearCookies();
  const answer = await agent.call('wordpress__current_user');
  expect(answer.code).toBe('AUTH_ERROR');
  expect(answer.text).toContain(`${blog.url}/wp-login.php`);
});

blogTest('without its database the site answers 500, which is INTERNAL_ERROR', async ({ blogStage }) => {
  const { agent, blog } = blogStage;
  await visit(blogStage, `${blog.url}/`);
  await blog.loseDatabase();
  const answer = await agent.call('wordpress__list_posts', {}, { timeoutMs: 20_000 });
  expect(answer.pageFields).toMatchObject({ code: 'INTERNAL_ERROR', category: 'internal', retryable: true });
});
