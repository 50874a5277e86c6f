// The next page of a site: its head, menus and foot that stayed as they were are a line each, and what it is about is
// told anew.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import base, { expect, type Stage, visit } from '../stage/test.ts';

const links = (...names: string[]) => names.map((name) => `<a href="${name}">${name}</a>`).join('\n');

const page = (name: string, main: string, more = '') => `<!doctype html><title>${name}</title>
  <header><h2>Shop</h2>${links('one', 'two', 'form')}</header>
  <nav aria-label="Areas">${links('Garden', 'Kitchen', 'Cellar', 'Attic', 'Roof')}${more}</nav>
  <div class="tools"><p>Tools of the trade</p>${links('Hammer', 'Saw', 'Plane')}</div>
  <nav aria-label="Search"><label>Search <input name="q"></label>${links('Old', 'New', 'Any')}</nav>
  <main><h1>${name}</h1>${main}<p>Same</p><p>words</p><p>in all</p><p>of them</p></main>
  <footer>${links('Terms', 'Privacy', 'Imprint', 'Contact')}</footer>`;

const pages = {
  one: page('one', '<p>First</p>'),
  two: page('two', '<p>Second</p>'),
  form: page('form', '<form><label>Name <input name="name"></label><button>Send</button></form>'),
  changed: page('changed', '', '<a href="Barn">Barn</a>'),
};

const test = base.extend<{ agent: Acting & { stage: Stage; site: string } }>({
  agent: async ({ sharedStage: stage, closing }, use) => {
    const site = await openSite(closing, pages);
    await visit(stage, `${site}/one`);
    await use(Object.assign(new Acting(stage.agent), { stage, site }));
  },
});

const go = async ({ agent }: Acting, to: string) =>
  expect(await agent.call('browser__navigate', { to })).toMatchObject({ failed: false });

test('parts that stayed are a line each, what the page is about and what one types into is told', async ({
  agent,
}) => {
  const first = await agent.look();
  expect(first).toContain('navigation "Areas"\n link "Garden" [');
  const [, two = ''] = /link "two" \[(e\d+)\]/.exec(first) ?? [];
  const next = (await agent.agent.call('browser__click', { ref: two })).text;
  expect(next).toMatch(/^navigation "Areas" \[e\d+\]: 5 lines as before$/m);
  expect(next).toMatch(/^… 4 lines as before, "Tools of the trade" to link "Plane" \[e\d+\]$/m);
  expect(next).toMatch(/^contentinfo \[e\d+\]: 4 lines as before$/m);
  expect(next).toContain('link "Any" ['); // beside a field
  expect(next).toContain('"Second"\n "Same"\n "words"\n "in all"\n "of them"');
  expect(next).not.toContain('link "Cellar"');
});

test('what is not told again can be looked at, found, and used in words', async ({ agent }) => {
  await agent.look();
  await go(agent, `${agent.site}/two`);
  const [, areas = ''] = /navigation "Areas" \[(e\d+)\]:/.exec(await agent.look()) ?? [];
  expect(await agent.look({ ref: areas })).toMatch(/link "Cellar" \[e\d+\]\n/);
  expect((await agent.agent.call('browser__find', { text: 'Attic' })).text).toMatch(/^link "Attic" \[e\d+\]/);
  expect(await agent.look({ full: true })).toContain('link "Cellar" [');
  const roof = await agent.agent.call('browser__click', { ref: 'link "Roof"' });
  expect(roof.text).toContain(`${agent.site}/Roof`);
});

test('a part in which anything is different is told whole, and so is a page of another site', async ({
  agent,
  closing,
}) => {
  await agent.look();
  await go(agent, `${agent.site}/changed`);
  const changed = await agent.look();
  expect(changed).toContain('link "Cellar" [');
  expect(changed).toContain('link "Barn" [');
  expect(changed).toMatch(/^contentinfo \[e\d+\]: 4 lines as before$/m);
  await go(agent, `${await openSite(closing, pages)}/changed`);
  expect(await agent.look()).not.toContain('as before');
});

test('the form that one works in is told again by the page that it leads to', async ({ agent }) => {
  await go(agent, `${agent.site}/form`);
  const first = await agent.look();
  const [, send = ''] = /button "Send" \[(e\d+)\]/.exec(first) ?? [];
  const again = (await agent.agent.call('browser__click', { ref: send })).text;
  expect(again).toContain('textbox "Name" [');
  expect(again).toContain('button "Send" [');
  expect(again).toMatch(/^navigation "Areas" \[e\d+\]: 5 lines as before$/m);
});

test('who has not looked at the page before is told all of this one', async ({ agent }) => {
  await go(agent, `${agent.site}/two`);
  expect(await agent.look()).not.toContain('as before');
});

test('a page that draws the next one in its place tells what is new in it', async ({
  sharedStage: stage,
  closing,
}) => {
  const paragraphs = (word: string) => Array.from({ length: 60 }, (_, n) => `<p>${word} ${n}</p>`).join('');
  const app = `${page('one', '<div id="app"></div>')}<script>
    const draw = () => { app.innerHTML = location.hash === '#b' ? '${paragraphs('New')}' : '${paragraphs('Old')}' };
    onhashchange = draw; draw();</script>`;
  await visit(stage, `${await openSite(closing, { app })}/app`);
  const agent = new Acting(stage.agent);
  const [, cellar = ''] = /link "Cellar" \[(e\d+)\]/.exec(await agent.look()) ?? [];
  await stage.page.evaluate(() => {
    location.hash = 'b';
  });
  const next = await agent.look();
  expect(next).toContain('"New 59"');
  expect(next).toMatch(/^navigation "Areas" \[e\d+\]: 5 lines as before$/m);
  expect(await agent.look({ ref: cellar })).toContain('link "Cellar"'); // what it said before holds
});

test('names that a page gives to its elements stand in the way of nothing', async ({
  sharedStage: stage,
  closing,
}) => {
  const names = 'querySelector querySelectorAll closest contains children matches getRootNode'.split(' ');
  const fields = names.map((name) => `<input type="hidden" name="${name}"><img name="${name}">`).join('');
  const named = (name: string) =>
    `<!doctype html><title>${name}</title><form>${fields}<nav>${links('a', 'b', 'c', 'd', 'e')}</nav></form>
    <main><h1>${name}</h1></main>`;
  const site = await openSite(closing, { one: named('one'), two: named('two') });
  await visit(stage, `${site}/one`);
  const agent = new Acting(stage.agent);
  await agent.look();
  await go(agent, `${site}/two`);
  expect(await agent.look()).toMatch(/navigation \[e\d+\]: 5 lines as before\nmain: h1 "two"$/);
});
