// An agent works on the mail of the person who signed in to Roundcube with its own form.

import { type Mail, mailPassword, openMail } from '../sites/roundcube.ts';
import { Closing } from '../stage/closing.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

interface MailStage extends Stage {
  mail: Mail;
}

/** One webmail and one browser for all. The lunch stays in the inbox; the last test breaks the webmail. */
const mailTest = test.extend<object, { mailStage: MailStage }>({
  mailStage: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const mail = await openMail(['ann', 'ben'], closing);
      await mail.deliver('ann', lunch);
      await mail.deliver('ann', list);
      const stage = await openStage(closing, {
        plugins: { roundcube: { settings: { url: `${mail.url}/` } } },
      });
      await use({ ...stage, mail });
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

/** What a person does: types name and password into the webmail's form. */
async function signIn({ page, mail, browser }: MailStage, name: string): Promise<void> {
  await browser.clearCookies();
  await page.goto(mail.url);
  await page.getByPlaceholder('Username').fill(name);
  await page.getByPlaceholder('Password').fill(mailPassword);
  await page.getByRole('button', { name: 'Login' }).click();
  await expect(page.getByRole('link', { name: 'Inbox' }).first()).toBeVisible();
}

const lunch = `From: Ben <ben@example.org>
To: Ann <ann@example.org>
Cc: ben@example.org
Subject: Lunch on Friday
Message-ID: <lunch@example.org>
Date: Fri, 20 Nov 2026 10:00:00 +0000

Hello Ann,
shall we meet at noon?
`;

const list = `From: Ben <ben@example.org>
To: Ann <ann@example.org>
Subject: =?utf-8?q?Tea_f=C3=BCr_alle?=
Message-ID: <list@example.org>
Date: Fri, 20 Nov 2026 11:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html; charset=utf-8

<p>See the <b>list</b>.</p><ul><li>Mint</li></ul><script>alert(1)</script>
--b
Content-Type: text/csv; charset=utf-8; name="teas.csv"
Content-Disposition: attachment; filename="teas.csv"

name,price
mint,3
--b
Content-Type: application/octet-stream; name="dot.bin"
Content-Disposition: attachment; filename="dot.bin"
Content-Transfer-Encoding: base64

AAEC
--b--
`;

const first = async ({ agent }: MailStage, args: Record<string, unknown> = {}) => {
  const answer = await agent.call('roundcube__list_messages', args);
  const [message] = Reflect.get(Object(answer.value), 'messages');
  return message;
};

mailTest('signed out every tool is AUTH_ERROR with the address to sign in', async ({ mailStage }) => {
  const { agent, mail } = mailStage;
  await visit(mailStage, `${mail.url}/`);
  for (const [tool, args] of Object.entries({
    list_folders: {},
    list_messages: {},
    read_message: { uid: 1 },
    read_attachment: { uid: 1, part: '2' },
    send_message: { to: 'ben@example.org', subject: 'Spam', text: 'Spam' },
    save_draft: { to: 'ben@example.org', subject: 'Spam', text: 'Spam' },
    reply_to_message: { uid: 1, text: 'Spam' },
    mark_messages: { uids: [1], as: 'read' },
    move_messages: { uids: [1], to: 'Trash' },
    delete_messages: { uids: [1] },
    list_contacts: {},
    add_contact: { name: 'Spam', email: 'spam@example.org' },
    current_user: {},
  })) {
    const answer = await agent.call(`roundcube__${tool}`, args);
    expect(answer.pageFields, tool).toEqual({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
    expect(answer.facts.outcome).toBe('not_executed');
    expect(answer.text).toContain(`${mail.url}/?_task=login`);
  }
});

mailTest('mail is listed, found and read, and stays unread', async ({ mailStage }) => {
  const { agent } = mailStage;
  await signIn(mailStage, 'ann');
  expect((await agent.call('roundcube__current_user')).value).toEqual({
    identities: ['ann <ann@example.org>'],
  });
  expect((await agent.call('roundcube__list_folders')).value).toMatchObject({
    folders: expect.arrayContaining([
      { path: 'INBOX', name: 'Inbox', kind: 'inbox', unread: 2 },
      { path: 'Archive', name: 'Archive', kind: '', unread: 0 },
    ]),
  });
  expect((await agent.call('roundcube__list_messages')).value).toMatchObject({
    total: 2,
    messages: [
      { subject: 'Tea für alle', people: 'Ben <ben@example.org>', unread: true, attachment: true },
      { subject: 'Lunch on Friday', unread: true, attachment: false },
    ],
  });
  expect((await agent.call('roundcube__list_messages', { limit: 1, offset: 1 })).value).toMatchObject({
    total: 2,
    messages: [{ subject: 'Lunch on Friday' }],
  });
  const tea = await first(mailStage, { query: 'tea' });
  expect((await agent.call('roundcube__read_message', { uid: tea.uid })).value).toMatchObject({
    subject: 'Tea für alle',
    from: 'Ben <ben@example.org>',
    to: 'Ann <ann@example.org>',
    text: 'See the list.\n\n- Mint',
    attachments: [
      { part: '2', name: 'teas.csv' },
      { part: '3', name: 'dot.bin' },
    ],
  });
  const attachment = (part: string) => agent.call('roundcube__read_attachment', { uid: tea.uid, part });
  expect((await attachment('2')).value).toMatchObject({ type: 'text/csv', text: 'name,price\r\nmint,3' });
  expect((await attachment('3')).value).toMatchObject({ bytes: 3, base64: 'AAEC' });
  expect((await attachment('9')).code).toBe('NOT_FOUND');
  const unread = await agent.call('roundcube__list_messages', { only: 'unread' });
  expect(unread.value).toMatchObject({ total: 2 });
  await agent.call('roundcube__mark_messages', { uids: [tea.uid], as: 'read' });
  expect((await agent.call('roundcube__read_message', { uid: tea.uid })).failed).toBe(false);
  expect(await first(mailStage, { query: 'tea' })).toMatchObject({ unread: false });
});

mailTest('marking, moving and deleting', async ({ mailStage }) => {
  const { agent } = mailStage;
  await signIn(mailStage, 'ann');
  const { uid } = await first(mailStage, { query: 'tea' });
  for (const as of ['read', 'flagged']) {
    const marked = await agent.call('roundcube__mark_messages', { uids: [uid], as });
    expect(marked.value).toMatchObject({ changed: 1 });
  }
  expect(await first(mailStage, { only: 'flagged' })).toMatchObject({ uid, unread: false, flagged: true });
  const moved = await agent.call('roundcube__move_messages', { uids: [uid], to: 'Archive' });
  expect(moved.value).toMatchObject({ changed: 1 });
  const archived = await first(mailStage, { folder: 'Archive' });
  expect(archived).toMatchObject({ subject: 'Tea für alle' });
  const away = { folder: 'Archive', uids: [archived.uid] };
  expect((await agent.call('roundcube__delete_messages', away)).value).toMatchObject({ forGood: false });
  const gone = { folder: 'Trash', uids: [(await first(mailStage, { folder: 'Trash' })).uid] };
  expect((await agent.call('roundcube__delete_messages', gone)).value).toMatchObject({ forGood: true });
  expect((await agent.call('roundcube__list_messages', { folder: 'Trash' })).value).toMatchObject({
    total: 0,
  });
});

mailTest('writing and answering: the other person gets it', async ({ mailStage }) => {
  const { agent } = mailStage;
  await signIn(mailStage, 'ann');
  const message = { to: 'Ben <ben@example.org>', subject: 'Grüße', text: 'Über alles.\nAnn' };
  expect((await agent.call('roundcube__save_draft', message)).value).toMatchObject({ subject: 'Grüße' });
  expect(await first(mailStage, { folder: 'Drafts' })).toMatchObject({ subject: 'Grüße' });
  expect((await agent.call('roundcube__send_message', message)).value).toMatchObject({ to: message.to });
  expect(await first(mailStage, { folder: 'Sent' })).toMatchObject({ people: 'Ben <ben@example.org>' });
  const { uid } = await first(mailStage, { query: 'lunch' });
  const reply = await agent.call('roundcube__reply_to_message', { uid, text: 'Gladly.' });
  expect(reply.value).toMatchObject({ to: 'Ben <ben@example.org>', subject: 'Re: Lunch on Friday' });
  expect(await first(mailStage, { query: 'lunch' })).toMatchObject({ uid, answered: true });

  await signIn(mailStage, 'ben');
  expect((await agent.call('roundcube__list_messages')).value).toMatchObject({
    total: 2,
    messages: [
      { subject: 'Re: Lunch on Friday', people: expect.stringContaining('ann@example.org') },
      { subject: 'Grüße' },
    ],
  });
  const answer = await first(mailStage, { query: 'lunch' });
  const read = await agent.call('roundcube__read_message', { uid: answer.uid });
  expect(Reflect.get(Object(read.value), 'text')).toMatch(/^Gladly\..*Ben wrote:.*> Hello Ann,/s);
});

mailTest('contacts are added once and found', async ({ mailStage }) => {
  const { agent } = mailStage;
  await signIn(mailStage, 'ann');
  const ben = { name: 'Ben Baker', email: 'ben.baker@example.org' };
  expect((await agent.call('roundcube__add_contact', ben)).value).toMatchObject(ben);
  expect((await agent.call('roundcube__add_contact', ben)).code).toBe('VALIDATION_ERROR');
  expect((await agent.call('roundcube__list_contacts')).value).toEqual({ contacts: [ben] });
  expect((await agent.call('roundcube__list_contacts', { query: 'baker' })).value).toMatchObject({
    contacts: [ben],
  });
});

mailTest('missing things, invalid input, refused and hurried mail', async ({ mailStage }) => {
  const { agent, mail } = mailStage;
  await signIn(mailStage, 'ann');
  const { uid } = await first(mailStage, { query: 'lunch' });
  for (const [tool, args] of [
    ['read_message', { uid: 999 }],
    ['read_attachment', { uid: 999, part: '2' }],
    ['reply_to_message', { uid: 999, text: 'x' }],
    ['mark_messages', { uids: [uid, 999], as: 'unread' }],
    ['move_messages', { uids: [uid], to: 'Nowhere' }],
    ['delete_messages', { uids: [999] }],
    ['list_messages', { folder: 'Nowhere' }],
  ] as const) {
    const { pageFields } = await agent.call(`roundcube__${tool}`, args);
    expect(pageFields, tool).toEqual({ code: 'NOT_FOUND', category: 'not_found', retryable: false });
  }
  const message = { to: 'nobody@example.org', subject: 'Hello', text: 'Hello' };
  const refused = await agent.call('roundcube__send_message', message);
  expect(refused.pageFields).toEqual({ code: 'MAIL_REFUSED', category: 'validation', retryable: false });
  expect(refused.text).toContain('There is no such person here');
  const wrong = await agent.call('roundcube__send_message', { ...message, to: 'nobody' });
  expect(wrong.pageFields).toMatchObject({ code: 'VALIDATION_ERROR' });
  await mail.slowDown(300);
  const good = { ...message, to: 'ben@example.org' };
  expect((await agent.call('roundcube__send_message', good)).failed).toBe(false);
  const hurried = await agent.call('roundcube__send_message', good);
  expect(hurried.pageFields).toMatchObject({ code: 'RATE_LIMITED', category: 'rate_limit', retryable: true });
  expect(hurried.pageFields.retryAfterMs).toBeGreaterThan(1000);
});

mailTest('a session that ends while the page stays open is noticed', async ({ mailStage }) => {
  const { agent, browser, mail } = mailStage;
  await signIn(mailStage, 'ann');
  expect((await agent.call('roundcube__list_folders')).failed).toBe(false);
  await browser.clearCookies();
  // Some ask the webmail's JSON; some read its pages, which are then the page to sign in on, with status 200.
  const message = { to: 'ben@example.org', subject: 'Hello', text: 'Hello' };
  for (const [tool, args] of [
    ['list_messages', {}],
    ['list_folders', {}],
    ['read_message', { uid: 1 }],
    ['send_message', message],
    ['current_user', {}],
  ] as const) {
    const answer = await agent.call(`roundcube__${tool}`, args);
    expect(answer.pageFields, tool).toMatchObject({ code: 'AUTH_ERROR', category: 'auth' });
    expect(answer.facts.outcome, tool).toBe('not_executed');
    expect(answer.text).toContain(`${mail.url}/?_task=login`);
  }
});

mailTest('without its mail server it is MAIL_SERVER_ERROR', async ({ mailStage }) => {
  const { agent, mail } = mailStage;
  await signIn(mailStage, 'ann');
  await mail.loseImap();
  const answer = await agent.call('roundcube__list_messages', {}, { timeoutMs: 20_000 });
  expect(answer.pageFields).toMatchObject({
    code: 'MAIL_SERVER_ERROR',
    category: 'internal',
    retryable: true,
  });
});
