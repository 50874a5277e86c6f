// What people do every day in pages of others, done by an agent that sees only what the tools answer. Each page tells
// by itself what was really done in it.
import { everyday } from '../sites/everyday.ts';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import base, { expect, type Stage, visit } from '../stage/test.ts';

type Visitor = Acting & { stage: Stage; site: string; says(text: string): Promise<void> };

const test = base.extend<{ at: (page: string) => Promise<Visitor> }>({
  at: async ({ keptStage: stage, closing }, use) => {
    const site = await openSite(closing, everyday);
    await use(async (page) => {
      await visit(stage, `${site}/${page}`);
      const says = async (text: string) =>
        expect.poll(() => stage.page.textContent('#out'), { message: page }).toBe(text);
      return Object.assign(new Acting(stage.agent), { stage, site, says });
    });
  },
});

const hover = async (agent: Acting, words: string) =>
  agent.do('pointer', { action: 'hover', ref: await agent.ref(words) });

test('menus that open while the pointer is over them', async ({ at }) => {
  const agent = await at('menus');
  expect((await hover(agent, 'link "Products"')).changes).toContain('link "Kettles"');
  expect((await hover(agent, 'link "More"')).changes).toContain('button "Teapots"');
  await agent.click('button "Teapots"');
  await agent.says('teapots');
  await agent.click('link "Kettles"');
  await agent.says('kettles');
  expect((await hover(agent, 'button "Open"')).changes).toContain('button "Delete"');
  expect(await agent.look({ full: true })).not.toContain('Kettles');
  await agent.click('button "Delete"');
  await agent.says('deleted 7');
  expect((await hover(agent, 'button "Account"')).changes).toContain('button "Sign out"');
  await agent.click('button "Sign out"');
  await agent.says('signed out');
  expect((await hover(agent, 'button "Elsewhere"')).changes).toContain('- button "Sign out"');
  expect(await agent.look({ full: true })).not.toContain('button "Delete"');
});

test('a list that loads more at its end is read to the end', async ({ at }) => {
  const agent = await at('feed');
  let seen = await agent.look();
  for (let n = 1; !seen.includes('That is all'); n++) {
    expect(n, `scrolls for eight parts; ${seen}`).toBeLessThan(20);
    seen = (await agent.do('pointer', { action: 'scroll', to: 'end' })).changes ?? (await agent.look()); // it came late
  }
  const found = (await agent.agent.call('browser__find', { text: 'Like 137' })).text;
  const ref = /button "Like 137" \[(e\d+)\]/.exec(found)?.[1];
  await agent.do('click', { ref });
  await agent.says('liked 137');
});

test('a row far down in a list that holds only what is in view', async ({ at }) => {
  const agent = await at('rows');
  const ref = await agent.ref('button "Row 3"');
  const moved = await agent.do('pointer', { action: 'scroll', ref, at: { y: 4000 * 30 } });
  expect(moved.changes).toContain('button "Row 4000"');
  await agent.click('button "Row 4001"');
  await agent.says('row 4001');
});

test('what never rests, what comes in front, and what lies under a header that stays', async ({ at }) => {
  const agent = await at('moving');
  await agent.click('button "Buy now"');
  await agent.says('bought');
  await agent.stage.page.evaluate(() => {
    const rest = document.querySelectorAll('button')[2];
    if (rest !== undefined) scrollTo(0, rest.offsetTop - 60); // under the header
  });
  await agent.click('button "Under the header"');
  await agent.says('reached');
  const buy = await agent.ref('button "Buy now"');
  expect((await agent.click('button "Show cookies"')).changes).toContain('dialog "Cookies"');
  const covered = await agent.failure('click', { ref: buy });
  expect(covered).toMatchObject({ code: 'TARGET_COVERED', outcome: 'not_executed' });
  expect(covered.text).toContain('Cookies');
  await agent.click('button "Only what is needed"');
  expect(await agent.do('click', { ref: buy })).toMatchObject({ outcome: 'executed' });
});

test('suggestions that are made anew with each key, and a mention in a text', async ({ at }) => {
  const agent = await at('search');
  const city = await agent.ref('textbox "City"');
  const typed = await agent.do('press', { ref: city, text: 'gen' });
  expect(typed.changes).toContain('"Genoa"');
  expect(typed.changes).not.toContain('"Ghent"');
  await agent.click('clickable "Genoa"');
  await agent.says('chose Genoa');
  const note = await agent.ref('textbox "Note"');
  expect((await agent.do('press', { ref: note, text: 'Ask @a' })).changes).toContain('option "Alan"');
  await agent.click('option "Alan"');
  await agent.says('mentioned Alan');
  await agent.do('press', { text: 'and @g' });
  await agent.do('press', { keys: 'Enter' });
  await agent.says('mentioned Grace');
  expect(await agent.stage.page.textContent('#note')).toMatch(/^Ask @Alan\sand @Grace\s$/);
});

test('boxes that hide their own input, and fields of every kind in one call', async ({ at }) => {
  const agent = await at('choices');
  const look = await agent.look({ full: true });
  const ref = (words: string) => new RegExp(`${words} \\[(e\\d+)\\]`).exec(look)?.[1];
  const fields = Object.entries({
    'checkbox "Terms"': true,
    'checkbox "News"': true,
    'radio "Large"': true,
    'date "From"': '2026-11-23',
    'time "At"': '09:15',
    'month "Month"': '2026-12',
    'week "Week"': '2026-W48',
    'colour "Ink"': '#336699',
    'slider "Price"': 0.35,
  }).map(([words, value]) => ({ ref: ref(words), value, words }));
  for (const { ref: one, words } of fields) expect(one, `${words} in\n${look}`).toBeDefined();
  const filled = await agent.do('fill', {
    fields: fields.map(({ ref: one, value }) => ({ ref: one, value })),
  });
  expect(
    filled.filled?.every(({ verified }) => verified),
    JSON.stringify(filled),
  ).toBe(true);
  await agent.click('button "Send"');
  await agent.says(
    'terms=on&news=on&size=l&from=2026-11-23&at=09%3A15&month=2026-12&week=2026-W48&ink=%23336699&price=0.35',
  );
  expect(await agent.fill('combobox "Fruit, open"', 'Pear')).toMatchObject({ verified: true });
  await agent.says('open Pear');
  expect(await agent.fill('combobox "Fruit, closed"', 'Plum')).toMatchObject({ verified: true });
  await agent.says('closed Plum');
});

test('dialogs, details and popovers of the page', async ({ at }) => {
  const agent = await at('dialogs');
  expect((await agent.click('button "Rename"')).changes).toContain('textbox "New name"');
  await agent.fill('textbox "New name"', 'Leaf');
  await agent.click('button "Apply"');
  await agent.says('renamed Leaf');
  await agent.click('button "Rename"');
  await agent.do('press', { keys: 'Escape' });
  await agent.says('as it was');
  await agent.click('button "Rename"');
  await agent.do('fill', {
    fields: [{ ref: await agent.ref('textbox "New name"'), value: 'Tree' }],
    submit: true,
  });
  await expect.poll(() => agent.look({ full: true })).toContain('button "Rename"');
  const summary = /\[(e\d+)\].*"?Details|Details" \[(e\d+)\]/.exec(await agent.look({ full: true }));
  expect((await agent.do('click', { ref: summary?.[1] ?? summary?.[2] })).changes).toContain(
    'button "Inside"',
  );
  await agent.click('button "Inside"');
  await agent.says('opened up');
  expect((await agent.click('button "More options"')).changes).toContain('button "Archive"');
  await agent.click('button "Archive"');
  await agent.says('popped');
});

test('an application of one page, and its keys', async ({ at }) => {
  const agent = await at('app');
  const orders = await agent.click('link "Orders"');
  expect(orders).toMatchObject({ url: `${agent.site}/app/orders`, title: 'orders' });
  expect(orders.changes).toContain('h1 "orders"');
  await agent.click('link "People"');
  await agent.agent.call('browser__navigate', { to: 'back' });
  await expect.poll(() => agent.look({ full: true })).toContain('h1 "orders"');
  await agent.do('press', { keys: 'g i' });
  await agent.says('inbox');
  await agent.do('press', { keys: 'Alt+Shift+J' });
  await agent.says('next one');
  expect((await agent.do('press', { keys: '/' })).focused).toContain('textbox "Comment"');
  await agent.do('press', { text: 'Fine\nby me' });
  await agent.do('press', { keys: 'Control+Enter' });
  await agent.says('sent Fine\nby me');
});

test('a form that leads to another page, in the page and in a frame of another site', async ({
  at,
  closing,
}) => {
  const agent = await at('form');
  const query = await agent.ref('textbox "Query"');
  const there = await agent.do('fill', { fields: [{ ref: query, value: 'tea & milk' }], submit: true });
  expect(there).toMatchObject({ url: `${agent.site}/arrived?q=tea+%26+milk`, title: 'Arrived' });
  await agent.says('?q=tea+%26+milk');
  const around = await openSite(closing, {
    shop: `<!doctype html><title>Shop</title><h1>Shop</h1><iframe title="Bank" src="${agent.site}/form"></iframe>`,
  });
  await visit(agent.stage, `${around}/shop`);
  await expect.poll(() => agent.look({ full: true })).toContain('textbox "Query"');
  await agent.fill('textbox "Query"', 'card');
  const sent = await agent.click('button "Search"');
  expect(sent).toMatchObject({ note: `The frame went to ${agent.site}/arrived?q=card` });
  expect(sent.page).toMatch(/h1 "Shop"[\s\S]*"\?q=card"/);
});

test('files for an input that nobody sees, dropped or chosen', async ({ at }) => {
  const agent = await at('files');
  const [one, two] = [
    { name: 'a.txt', text: 'abc' },
    { name: 'b.txt', text: 'defgh' },
  ];
  const asked = await agent.click('button "Attach"');
  expect(asked.note).toMatch(/asks for files: upload takes them, with (e\d+)/);
  await agent.do('upload', { ref: /with (e\d+)/.exec(asked.note ?? '')?.[1], files: [one] });
  await agent.says('attached a.txt:3');
  const choose = await agent.click('button "choose them"');
  await agent.do('upload', { ref: /with (e\d+)/.exec(choose.note ?? '')?.[1], files: [one, two] });
  await agent.says('chose a.txt:3 b.txt:5');
});
