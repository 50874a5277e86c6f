// Errands in applications of others: what is done is checked at their servers, past the browser.

import { z } from 'zod';
import { openWiki } from '../../sites/mediawiki.ts';
import { editor, openNodeRed } from '../../sites/node-red.ts';
import { openPocketBase, superuser } from '../../sites/pocketbase.ts';
import { mailPassword, openMail } from '../../sites/roundcube.ts';
import { openBlog, signInToBlog } from '../../sites/wordpress.ts';
import type { Deed } from './agent.ts';
import type { Errand } from './errand.ts';
import * as scripts from './scripts.ts';

const password = 'correct horse battery';

const wiki: Errand = {
  name: 'MediaWiki: search an article, edit it, see it in the history',
  async open(closing) {
    const site = await openWiki(closing);
    await site.addUser('Alice', password);
    await site.addUser('Bob', password);
    await site.save('Red fox', "The '''red fox''' is a fox.\n\n* Mice\n* Berries", 'Bob');
    return {
      async signIn(page) {
        await page.goto(site.page('Special:UserLogin'));
        await page.getByLabel('Username').fill('Alice');
        await page.getByRole('textbox', { name: 'Password' }).fill(password);
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByRole('link', { name: 'Alice', exact: true }).waitFor();
      },
      async work(agent) {
        await agent.go(site.page('Main Page'));
        await agent.fill([[{ role: /searchbox|combobox|textbox/, name: /^Search Test wiki/ }, 'fox']], true);
        await agent.click({ role: 'link', name: /^Red fox$/i }, { leads: true });
        await agent.click({ role: 'link', name: 'Edit' }, { leads: true });
        const text = "The '''red fox''' is a fox.\n\n* Mice\n* Berries\n* Apples";
        const fields: Deed = {
          fill: [
            [{ role: 'textbox', name: /^(Wikitext source editor|Editing Red fox)/ }, text],
            [{ role: 'textbox', name: /^Summary/ }, 'It eats apples, too'],
          ],
        };
        await agent.all([fields, { click: { role: 'button', name: 'Save changes' }, leads: true }]);
        await agent.expect('Apples');
        await agent.click({ role: 'link', name: 'View history' }, { leads: true });
        await agent.expect('It eats apples, too');
      },
      scripts: () => scripts.wiki(site.page('Main Page')),
      async done() {
        const [last, first, ...more] = await site.history('Red fox');
        const edited = last?.user === 'Alice' && last.comment === 'It eats apples, too';
        return edited && last.text.endsWith('* Apples') && first?.user === 'Bob' && more.length === 0;
      },
    };
  },
};

const blog: Errand = {
  name: 'WordPress: write a post in the block editor, with a new category, and publish it',
  async open(closing) {
    const site = await openBlog(closing);
    return {
      signIn: (page) => signInToBlog(page, site, 'Alice'),
      async work(agent) {
        await agent.go(`${site.url}/wp-admin/post-new.php`, 'Welcome to the block editor');
        await agent.click({ role: 'button', name: /^Close/ });
        const title: Deed = { fill: [[{ role: 'textbox', name: 'Add title' }, 'The owl']] };
        await agent.all([title, { click: { role: 'button', name: /^Add default block/ } }]);
        const block = { name: /^(Empty block|Paragraph block|Block: Paragraph)/ };
        const text: Deed = { fill: [[block, 'Owls fly at night.']] };
        await agent.all([text, { click: { role: /tab|button/, name: /^Post$/ } }]);
        await agent.click({ role: 'button', name: 'Categories' });
        await agent.click({ role: 'button', name: 'Add New Category' });
        await agent.fill([[{ role: 'textbox', name: /^New Category Name$/i }, 'Birds']], true);
        await agent.click({ role: 'button', name: 'Publish' });
        await agent.click({ role: 'button', name: 'Publish', near: 'Editor publish' });
        await agent.expect('is now live');
      },
      scripts: () => scripts.blog(`${site.url}/wp-admin/post-new.php`),
      async done() {
        const feed = await site.reads('/?feed=rss2&category_name=birds');
        return feed.includes('<title>The owl</title>') && feed.includes('Owls fly at night.');
      },
    };
  },
};

const letter = (number: number, subject: string, text: string): string =>
  `From: Ben <ben@example.org>
To: Ann <ann@example.org>
Subject: ${subject}
Message-ID: <${number}@example.org>
Date: ${new Date(Date.UTC(2026, 10, number, 10)).toUTCString()}

${text}
`;

const mail: Errand = {
  name: 'Roundcube: find a message, answer it, move it to the archive',
  async open(closing) {
    const site = await openMail(['ann', 'ben'], closing);
    for (let number = 1; number <= 20; number++)
      await site.deliver('ann', letter(number, `Minutes of meeting ${number}`, 'Nobody came.'));
    await site.deliver('ann', letter(3, 'Lunch on Friday', 'Shall we meet at noon?'));
    const about = (messages: readonly string[]) => messages.filter((one) => one.includes('Lunch on Friday'));
    return {
      async signIn(page) {
        await page.goto(site.url);
        await page.getByPlaceholder('Username').fill('ann');
        await page.getByPlaceholder('Password').fill(mailPassword);
        await page.getByRole('button', { name: 'Login' }).click();
        await page.getByRole('link', { name: 'Inbox' }).first().waitFor();
      },
      async work(agent) {
        await agent.go(`${site.url}/?_task=mail&_mbox=INBOX`);
        const nameless = { role: 'textbox', name: '', near: 'Email search input' };
        const search = { role: /searchbox|textbox/, name: /^Search/, or: nameless };
        await agent.fill([[search, 'Lunch']], true);
        await agent.click({ name: /Lunch on Friday/ }, { leads: true });
        await agent.expect('Shall we meet at noon?');
        await agent.click({ role: /link|button/, name: 'Reply' }, { leads: true });
        const answer: Deed = {
          fill: [[{ role: 'textbox', name: /^(?!Subject)/, near: 'Subject' }, 'Yes, at noon.']],
        };
        // A page that still sends does not let itself be left.
        const send: Deed = { click: { role: /link|button/, name: 'Send' }, leads: true };
        await agent.all([answer, send], 'Messages 1 to'); // the inbox again
        await agent.click({ name: /Lunch on Friday/ }, { leads: true });
        await agent.expect('Shall we meet at noon?');
        await agent.click({ role: /link|button/, name: 'More' });
        await agent.click({ role: /link|button|menuitem/, name: /^Move to/ });
        await agent.click({ name: 'Archive', near: 'Move to' });
        await agent.expect('moved successfully');
      },
      scripts: () => scripts.mail(`${site.url}/?_task=mail&_mbox=INBOX`),
      async done() {
        const archived = about(await site.messages('ann', 'Archive'));
        const answers = about(await site.messages('ben'));
        const left = await site.messages('ann');
        const answered = answers.length === 1 && answers[0]?.includes('Yes, at noon.') === true;
        return answered && archived.length === 1 && left.length === 20 && about(left).length === 0;
      },
    };
  },
};

const Flows = z.array(z.looseObject({ id: z.string(), name: z.string().optional() }));

const flows: Errand = {
  name: 'Node-RED: change two nodes of a flow and deploy',
  async open(closing) {
    const site = await openNodeRed(closing);
    return {
      async signIn(page) {
        await page.goto(site.url);
        await page.getByLabel('Username').fill(editor.name);
        await page.getByLabel('Password').fill(editor.password);
        await page.getByRole('button', { name: 'Login' }).click();
        await page.locator('#red-ui-workspace-tabs').getByText('Greetings').waitFor();
      },
      async work(agent) {
        const named = (name: string): Deed => ({ fill: [[{ role: 'textbox', name: /Name/ }, name]] });
        const done: Deed = { click: { role: 'button', name: 'Done' }, leads: true };
        await agent.go(site.url);
        await agent.click({ name: /^Greet$/ }, { double: true, leads: true });
        await agent.all([named('Welcome'), done]);
        await agent.click({ name: /^Press$/ }, { double: true, leads: true });
        await agent.all([named('Start'), done]);
        await agent.click({ name: /^Deploy/ });
        await agent.expect('Successfully deployed');
      },
      scripts: () => scripts.flows(site.url),
      async done() {
        const { access_token } = await site.session(editor);
        const headers = { authorization: `Bearer ${access_token}` };
        const now = Flows.parse(await (await fetch(`${site.url}flows`, { headers })).json());
        const nameOf = (id: string) => now.find((one) => one.id === id)?.name;
        return nameOf('greet') === 'Welcome' && nameOf('press') === 'Start' && nameOf('show') === 'Show';
      },
    };
  },
};

const Books = z.object({
  items: z.array(z.object({ title: z.string(), blurb: z.string(), pages: z.number() })),
});

const records: Errand = {
  name: 'PocketBase: add a record, find another by a filter and change it',
  async open(closing) {
    const site = await openPocketBase(closing);
    return {
      async signIn(page) {
        await page.goto(`${site.dashboard}#/login`);
        await page.getByLabel('Email').fill(superuser.email);
        await page.getByLabel('Password').fill(superuser.password);
        await page.getByRole('button', { name: 'Login' }).click();
        await page.getByRole('button', { name: 'New collection' }).waitFor();
      },
      async work(agent) {
        await agent.go(`${site.dashboard}#/collections?collection=books`);
        await agent.click({ role: 'button', name: 'New record' }, { leads: true });
        const heron: Deed = {
          fill: [
            [{ role: 'textbox', name: /^title/ }, 'The heron'],
            [{ role: 'spinbutton', name: /^pages/ }, 64],
          ],
        };
        await agent.all([heron, { click: { role: 'button', name: 'Create' }, leads: true }]);
        await agent.expect('The heron');
        const nameless = { role: 'textbox', name: '', near: 'New record' };
        const filter = { role: 'textbox', name: /^Search term or filter/, or: nameless };
        await agent.fill([[filter, 'pages < 50']], true);
        await agent.click({ role: /^(row|cell|gridcell|)$/, name: /The hare/ }, { leads: true });
        const pages: Deed = { fill: [[{ role: 'spinbutton', name: /^pages/ }, 41]] };
        await agent.all([pages, { click: { role: 'button', name: 'Save changes' }, leads: true }]);
        await agent.expect('Successfully updated record');
      },
      scripts: () => scripts.records(`${site.dashboard}#/collections?collection=books`),
      async done() {
        const { items } = Books.parse(await site.send('GET', 'collections/books/records?sort=title'));
        const said = items.map(({ title, pages }) => `${title} ${pages}`).join(', ');
        return said === "The fox 120, The hare 41, The heron 64, The owl's night 80";
      },
    };
  },
};

export const inApplications: readonly Errand[] = [wiki, blog, mail, flows, records];
