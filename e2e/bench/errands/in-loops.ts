// Errands of many like steps: what is found is reported, and checked; what is done is checked at the site's server.

import { isDeepStrictEqual } from 'node:util';
import { openSite } from '../../sites/own-pages.ts';
import { openPocketBase, superuser } from '../../sites/pocketbase.ts';
import type { Agent, Deed } from './agent.ts';
import type { Errand } from './errand.ts';
import { openPages } from './site.ts';

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

/** What a page that was gone to says of a pattern's groups. */
async function readAt(agent: Agent, url: string, pattern: RegExp): Promise<string[]> {
  await agent.go(url);
  if (!agent.driver.current || !pattern.test(agent.driver.view.text)) await agent.look();
  return pattern.exec(agent.driver.view.text)?.slice(1) ?? [];
}

const notes = 'Paid late. '.repeat(40);
const records = 40;
const due = (n: number): string => `Person ${n}: ${n * 3}.50`;

const collect: Errand = {
  name: 'collect two fields of each of 40 records',
  async open(closing) {
    const pages = upTo(records).map((n) => {
      const rows = `<tr><th>Name<td>Person ${n}<tr><th>Due<td>${n * 3}.50<tr><th>Notes<td>${notes}`;
      return [`r${n}`, `<title>Record ${n}</title><h1>Record ${n}</h1><table>${rows}</table>`];
    });
    const links = upTo(records).map((n) => `<p><a href="/r${n}">Record ${n}</a>`);
    const site = await openSite(closing, {
      ...Object.fromEntries(pages),
      records: `<title>Records</title><h1>Records</h1>${links.join('')}`,
    });
    const wanted = upTo(records).map(due).join('; ');
    return {
      signIn: async (tab) => void (await tab.goto(`${site}/records`)),
      async work(agent) {
        await agent.go(`${site}/records`);
        await agent.the({ role: 'link', name: 'Record 1' });
        const found: string[] = [];
        for (const n of upTo(records)) {
          const [, name, owed] = await readAt(
            agent,
            `${site}/r${n}`,
            /(Name\b[^P]*)(Person \d+)[\s\S]*?Due[\s\S]*?(\d+\.\d\d)/,
          );
          found.push(`${name}: ${owed}`);
        }
        return found.join('; ');
      },
      scripts: () => [
        `const found = []
for (let n = 1; n <= 40; n++) {
  await browser.navigate('${site}/r' + n)
  const { rows } = await browser.read({ what: 'tables', table: '0' })
  const { Name, Due } = Object.fromEntries(rows)
  found.push(Name + ': ' + Due)
}
found.join('; ')`,
      ],
      code: () => [
        `async (page) => {
  const found = []
  for (let n = 1; n <= 40; n++) {
    await page.goto('${site}/r' + n)
    const cell = (name) => page.getByRole('row', { name }).getByRole('cell').last().textContent()
    found.push(await cell('Name') + ': ' + await cell('Due'))
  }
  return found.join('; ')
}`,
      ],
      done: async (reported) => reported.includes(wanted),
    };
  },
};

const people = upTo(20).map((n) => ({
  name: `Person ${n}`,
  email: `p${n}@leaf.example`,
  team: ['Red', 'Blue'][n % 2],
}));

const enter: Errand = {
  name: 'enter 20 rows of a table into a form, one by one',
  async open(closing) {
    const form = await openPages(closing);
    const rows = people
      .map(
        (one) =>
          `<tr>${Object.values(one)
            .map((cell) => `<td>${cell}`)
            .join('')}`,
      )
      .join('');
    const list = await openSite(closing, {
      people: `<title>People</title><table><tr><th>Name<th>Email<th>Team${rows}</table>`,
    });
    return {
      signIn: async (tab) => void (await tab.goto(`${list}/people`)),
      async work(agent) {
        await agent.go(`${list}/people`);
        await agent.look();
        const row = /"?(Person \d+)"?[^p]*?"?(p\d+@leaf\.example)"?[^RB]*?(Red|Blue)/g;
        const read = Array.from(agent.driver.view.text.matchAll(row), ([, ...cells]) => cells);
        await agent.go(`${form.url}/person`);
        for (const [i, [name = '', email = '', team = '']] of read.entries()) {
          const person: Deed = {
            fill: [
              [{ role: 'textbox', name: 'Name' }, name],
              [{ role: 'textbox', name: 'Email' }, email],
              [{ role: 'combobox', name: 'Team' }, team],
            ],
          };
          await agent.all([person, { click: { role: 'button', name: 'Save' } }]);
          await agent.expect(`${i + 1} saved`);
        }
        return '';
      },
      scripts: () => [
        `await browser.navigate('${list}/people')
const { rows } = await browser.read({ what: 'tables', table: '0' })
await browser.navigate('${form.url}/person')
for (const [i, [name, email, team]] of rows.entries()) {
  await browser.fill({ fields: [
    { ref: 'textbox "Name"', value: name },
    { ref: 'textbox "Email"', value: email },
    { ref: 'combobox "Team"', value: team }] })
  await browser.click('button "Save"')
  await browser.wait(i + 1 + ' saved')
}
rows.length`,
      ],
      code: () => [
        `async (page) => {
  await page.goto('${list}/people')
  const rows = await page.locator('tr').evaluateAll((all) =>
    all.slice(1).map((row) => [...row.cells].map((one) => one.innerText)))
  await page.goto('${form.url}/person')
  for (const [i, [name, email, team]] of rows.entries()) {
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Team').selectOption(team)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(i + 1 + ' saved').waitFor()
  }
  return rows.length
}`,
      ],
      done: async () => isDeepStrictEqual(form.sent('person'), people),
    };
  },
};

const books = 24;
const differing = new Set([5, 11, 20]);
const pagesOf = (n: number): number => 100 + n;

const compare: Errand = {
  name: 'compare a catalogue with the records of PocketBase, 24 books',
  async open(closing) {
    const site = await openPocketBase(closing);
    for (const n of upTo(books)) {
      const pages = pagesOf(n) + (differing.has(n) ? 1 : 0);
      await site.send('POST', 'collections/books/records', { title: `Volume ${n}`, pages });
    }
    const shop = await openSite(
      closing,
      Object.fromEntries(
        upTo(books).map((n) => {
          const about = `<dl><dt>Pages<dd>${pagesOf(n)} pages<dt>Blurb<dd>${'A book of owls. '.repeat(20)}</dl>`;
          return [`volume-${n}`, `<title>Volume ${n}</title><h1>Volume ${n}</h1>${about}`];
        }),
      ),
    );
    const dashboard = `${site.dashboard}#/collections?collection=books`;
    const wanted = Array.from(differing, (n) => `Volume ${n}`);
    return {
      async signIn(page) {
        await page.goto(`${site.dashboard}#/login`);
        await page.getByLabel('Email').fill(superuser.email);
        await page.getByLabel('Password').fill(superuser.password);
        await page.getByRole('button', { name: 'Login' }).click();
        await page.getByRole('button', { name: 'New collection' }).waitFor();
      },
      async work(agent) {
        await agent.go(dashboard);
        await agent.expect('Volume 1');
        await agent.look();
        const kept = Array.from(
          agent.driver.view.text.matchAll(/"?(Volume \d+)"?[\s\S]*?"?(?<![\w:-])(1\d\d)"?(?![\w:-])/g),
          ([, title = '', pages = '']) => ({ title, pages }),
        );
        const differ: string[] = [];
        for (const { title, pages } of kept) {
          const [there] = await readAt(
            agent,
            `${shop}/${title.toLowerCase().replace(' ', '-')}`,
            /(\d+) pages/,
          );
          if (there !== pages) differ.push(title);
        }
        return differ.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).join(', ');
      },
      scripts: () => [
        `await browser.navigate({ to: ${JSON.stringify(dashboard)}, until: 'Volume 1' })
const { columns, rows } = await browser.read({ what: 'tables', table: '0' })
const [title, pages] = ['title', 'pages'].map((name) => columns.findIndex((one) => one.includes(name)))
const differ = []
for (const row of rows.filter((one) => one[title].startsWith('Volume'))) {
  await browser.navigate('${shop}/' + row[title].toLowerCase().replace(' ', '-'))
  const { text } = await browser.read({ what: 'text' })
  if (!text.includes(row[pages] + ' pages')) differ.push(row[title])
}
differ.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).join(', ')`,
      ],
      code: () => [
        `async (page) => {
  await page.goto(${JSON.stringify(dashboard)})
  await page.getByText('Volume 1', { exact: true }).waitFor()
  const rows = await page.locator('tbody tr').evaluateAll((all) => all.map((row) => row.innerText.split(/[\\t\\n]+/)))
  const differ = []
  for (const row of rows) {
    const title = row.find((one) => one.startsWith('Volume'))
    if (title === undefined) continue
    await page.goto('${shop}/' + title.toLowerCase().replace(' ', '-'))
    const [pages] = /\\d+(?= pages)/.exec(await page.locator('body').innerText())
    if (!row.includes(pages)) differ.push(title)
  }
  return differ.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).join(', ')
}`,
      ],
      done: async (reported) =>
        isDeepStrictEqual(
          new Set(/Volume \d+(?:, Volume \d+)+/.exec(reported)?.[0].split(', ')),
          new Set(wanted),
        ),
    };
  },
};

export const inLoops: readonly Errand[] = [collect, enter, compare];
