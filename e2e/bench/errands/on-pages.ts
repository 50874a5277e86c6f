// Errands on pages of our own, with the widgets that are hard: what is done is checked at their server.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Closing } from '../../stage/closing.ts';
import { temporaryFolder } from '../../stage/paths.ts';
import type { Agent, Deed } from './agent.ts';
import type { Errand, Site } from './errand.ts';
import * as scripts from './scripts.ts';
import { openPages, type PageSite } from './site.ts';

function onPage(
  page: string,
  name: string,
  wanted: object,
  work: (agent: Agent, site: PageSite, closing: Closing) => Promise<void>,
  scripted: (site: string, closing: Closing) => Promise<string[]> | string[],
): Errand {
  const open = async (closing: Closing): Promise<Site> => {
    const site = await openPages(closing);
    return {
      signIn: async (tab) => void (await tab.goto(`${site.url}/${page}`)),
      work: (agent) => work(agent, site, closing),
      scripts: () => scripted(site.url, closing),
      done: async () => site.sent(page).length === 1 && isDeepStrictEqual(site.sent(page)[0], wanted),
    };
  };
  return { name, open };
}

const order = onPage(
  'order',
  'order form: combobox with late options, confirm()',
  {
    ...{ customer: 'Ada Lovelace', email: 'ada@leaf.example', size: 'Large', gift: 'on' },
    ...{ delivery: 'courier', city: 'Ghent' },
  },
  async (agent, { url }) => {
    await agent.go(`${url}/order`);
    const fields: Deed = {
      fill: [
        [{ role: 'textbox', name: 'Customer' }, 'Ada Lovelace'],
        [{ role: 'textbox', name: 'Email' }, 'ada@leaf.example'],
        [{ role: 'combobox', name: 'City' }, 'Ghent'],
        [{ role: 'combobox', name: 'Size' }, 'Large'],
        [{ role: 'checkbox', name: 'Wrap as a gift' }, true],
        [{ role: 'radio', name: 'By courier' }, true],
      ],
    };
    await agent.all([fields, { click: { role: 'button', name: 'Place order' }, yes: true }]);
    await agent.expect('Order 4711 is placed.');
  },
  scripts.order,
);

const columns = {
  'To do': ['Write the guide', 'Call the printer'],
  Doing: ['Draw the icons', 'Mend the login'],
  Done: ['Buy paper'],
};

const board = onPage(
  'board',
  'board: a card is dragged',
  columns,
  async (agent, { url }) => {
    await agent.go(`${url}/board`);
    await agent.drag({ name: /Mend the login/ }, { name: /Draw the icons/ });
    await agent.expect('Mend the login is in Doing.');
  },
  scripts.board,
);

const table = onPage(
  'table',
  'table that is drawn anew all the time',
  { id: 107 },
  async (agent, { url }) => {
    await agent.go(`${url}/table`);
    await agent.click({ role: 'button', name: 'Approve', near: '107' });
    await agent.expect('Order 107 is approved.');
  },
  scripts.table,
);

async function editorPage(site: string, closing: Closing): Promise<string> {
  const { url } = await openPages(closing);
  return `${site}/editor?frame=${url.replace('127.0.0.1', 'localhost')}/writing`;
}

const editor = onPage(
  'editor',
  'ProseMirror in a foreign frame in a closed shadow root',
  { headline: 'The owl', comments: 'on', text: 'Owls fly at night.' },
  async (agent, { url }, closing) => {
    await agent.go(await editorPage(url, closing));
    const text = { role: 'textbox', name: 'Text of the article', or: { role: 'Iframe', name: 'Text' } };
    await agent.fill([[text, 'Owls fly at night.']]);
    const fields: Deed = {
      fill: [
        [{ role: 'textbox', name: 'Headline' }, 'The owl'],
        [{ role: 'checkbox', name: 'Allow comments' }, true],
      ],
    };
    await agent.all([fields, { click: { role: 'button', name: 'Publish' } }]);
    await agent.expect('The article is published.');
  },
  async (url, closing) => scripts.editor(await editorPage(url, closing)),
);

const booking = onPage(
  'booking',
  'booking: date, range of days, sliders, upload',
  {
    ...{ arrival: '2027-03-10', range: [10, 14], budget: 250, guests: 4 },
    ...{ file: 'passport.txt', text: 'A passport' },
  },
  async (agent, { url }, closing) => {
    const file = path.join(agent.driver.files ?? (await temporaryFolder('upload', closing)), 'passport.txt');
    await writeFile(file, 'A passport');
    await agent.go(`${url}/booking`);
    const arrival = { name: 'Arrival', or: { role: 'spinbutton', name: /^Month/ } };
    await agent.all([
      {
        fill: [
          [arrival, '2027-03-10'],
          [{ role: 'slider', name: 'Budget' }, 250],
        ],
      },
      { click: { role: 'button', name: '10 March 2027' } },
      { click: { role: 'button', name: '14 March 2027' } },
      { slide: { role: 'slider', name: 'Guests' }, from: 1, to: 4 },
      { upload: { name: /^Passport copy/ }, file },
      { click: { role: 'button', name: 'Book' } },
    ]);
    await agent.expect('The room is booked.');
  },
  scripts.booking,
);

const wizard = onPage(
  'wizard',
  'wizard of four steps, with a window of the bank',
  {
    ...{ name: 'Ada Lovelace', street: 'Dover Street 12', town: 'London', tariff: 'green' },
    ...{ account: 'Current 22', terms: 'on' },
  },
  async (agent, { url }) => {
    await agent.go(`${url}/wizard`);
    const next = (near?: string): Deed => ({
      click: { role: 'button', name: 'Next', ...(near !== undefined && { near }) },
      leads: true,
    });
    const person: Deed = {
      fill: [
        [{ role: 'textbox', name: 'Full name' }, 'Ada Lovelace'],
        [{ role: 'textbox', name: 'Street' }, 'Dover Street 12'],
        [{ role: 'textbox', name: 'Town' }, 'London'],
      ],
    };
    await agent.all([person, next()]);
    await agent.all([{ fill: [[{ role: 'radio', name: 'Green power' }, true]] }, next('Green power')]);
    await agent.click({ role: 'button', name: 'Confirm with the bank' });
    await agent.other();
    const account: Deed = { fill: [[{ role: 'combobox', name: 'Account' }, 'Current 22']] };
    await agent.all([account, { click: { role: 'button', name: 'Confirm' } }]);
    await agent.first();
    await agent.all([next('Confirm with the bank')]);
    const terms: Deed = { fill: [[{ role: 'checkbox', name: 'I accept the terms' }, true]] };
    await agent.all([terms, { click: { role: 'button', name: 'Send' } }]);
    await agent.expect('The contract is sent.');
  },
  scripts.wizard,
);

const list = onPage(
  'list',
  'list of 5,000 rows in a scroller of its own',
  { article: 1234, amount: 77 },
  async (agent, { url }) => {
    await agent.go(`${url}/list`);
    await agent.scrollTo({ role: 'list', name: 'Articles' }, /^Edit article (\d+)$/, 1234);
    await agent.click({ role: 'button', name: 'Edit article 1234' }, { leads: true });
    const amount: Deed = { fill: [[{ name: 'Amount of article 1234' }, '77']] };
    await agent.all([amount, { click: { role: 'button', name: 'Save' } }]);
    await agent.expect('Article 1234 is saved.');
  },
  scripts.list,
);

export const onPages: readonly Errand[] = [order, list, board, editor, booking, table, wizard];
