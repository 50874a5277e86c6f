// Errands in applications of others: what is done is checked at their servers, past the browser.

import { openWiki } from '../../sites/mediawiki.ts';
import { editor, openNodeRed } from '../../sites/node-red.ts';
import { openPocketBase, superuser } from '../../sites/pocketbase.ts';
import { blogPassword, openBlog } from '../../sites/wordpress.ts';
import type { Errand } from './errand.ts';

const password = 'correct horse battery';

const wiki: Errand = {
  name: 'MediaWiki: search an article, edit it, read its history',
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
        await page.waitForURL((url) => !url.href.includes('UserLogin'));
      },
      async work(agent) {
        await agent.go(site.page('Main Page'));
        await agent.fill(
          [[{ role: /searchbox|combobox|textbox/, name: /^Search Test wiki/ }, 'Red fox']],
          true,
        );
        await agent.click({ role: 'link', name: /^Red fox$/i }, { leads: true });
        await agent.click({ role: 'link', name: 'Edit' }, { leads: true });
        const text = "The '''red fox''' is a fox.\n\n* Mice\n* Berries\n* Apples";
        await agent.fill([
          [{ role: 'textbox', name: /^Editing Red fox|^wpTextbox1$|^Edit(ing)? / }, text],
          [{ role: 'textbox', name: /^Summary/ }, 'It eats apples, too'],
        ]);
        await agent.click({ role: 'button', name: 'Save changes' }, { leads: true });
        await agent.click({ role: 'link', name: 'View history' }, { leads: true });
        await agent.expect('It eats apples, too');
      },
      async done() {
        const [last] = await site.history('Red fox');
        return (
          last?.user === 'Alice' && last.comment === 'It eats apples, too' && last.text.endsWith('* Apples')
        );
      },
    };
  },
};

const blog: Errand = {
  name: 'WordPress: approve a comment',
  async open(closing) {
    const site = await openBlog(closing);
    await site.comment(1, 'A comment worth reading');
    return {
      async signIn(page) {
        await page.goto(`${site.url}/wp-login.php`);
        await page.getByLabel('Username or Email Address').fill('alice');
        await page.getByLabel('Password', { exact: true }).fill(blogPassword);
        await page.getByRole('button', { name: 'Log In' }).click();
        await page.waitForURL(/wp-admin/);
      },
      async work(agent) {
        await agent.go(`${site.url}/wp-admin/edit-comments.php`);
        await agent.click({ name: /^Approve/, near: 'A comment worth reading' });
        await agent.expect('Unapprove');
      },
      done: async () => (await site.reads('/?p=1')).includes('A comment worth reading'),
    };
  },
};

const flows: Errand = {
  name: 'Node-RED: rename a node and deploy',
  async open(closing) {
    const site = await openNodeRed(closing);
    return {
      async signIn(page) {
        await page.goto(site.url);
        await page.getByLabel('Username').fill(editor.name);
        await page.getByLabel('Password').fill(editor.password);
        await page.getByRole('button', { name: 'Login' }).click();
        await page.getByText('Deploy').first().waitFor();
      },
      async work(agent) {
        await agent.go(site.url);
        await agent.click({ name: /^Greet$/ }, { double: true, leads: true });
        await agent.fill([[{ role: 'textbox', name: /Name/ }, 'Welcome']]);
        await agent.click({ role: 'button', name: 'Done' }, { leads: true });
        await agent.click({ name: /^Deploy/ });
        await agent.expect('Successfully deployed');
      },
      async done() {
        const { access_token } = await site.session(editor);
        const headers = { authorization: `Bearer ${access_token}` };
        return (await (await fetch(`${site.url}flows`, { headers })).text()).includes('"name":"Welcome"');
      },
    };
  },
};

const records: Errand = {
  name: 'PocketBase: add a record',
  async open(closing) {
    const site = await openPocketBase(closing);
    return {
      async signIn(page) {
        await page.goto(`${site.dashboard}#/login`);
        await page.getByLabel('Email').fill(superuser.email);
        await page.getByLabel('Password').fill(superuser.password);
        await page.getByRole('button', { name: 'Login' }).click();
        await page.getByText('books').first().waitFor();
      },
      async work(agent) {
        await agent.go(`${site.dashboard}#/collections?collection=authors`);
        await agent.click({ role: /button|link/, name: /New record/ }, { leads: true });
        await agent.fill([[{ role: 'textbox', name: /^name/i }, 'Ada Lovelace']]);
        await agent.click({ role: 'button', name: 'Create' }, { leads: true });
        await agent.expect('Ada Lovelace');
      },
      async done() {
        return JSON.stringify(await site.send('GET', 'collections/authors/records')).includes('Ada Lovelace');
      },
    };
  },
};

export const inApplications: readonly Errand[] = [wiki, blog, flows, records];
