// The main acts in pages that are not as one opens them: out of the back/forward cache, and behind others.
import type { Page } from '@playwright/test';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { expect, type Stage, test, visit } from '../stage/test.ts';

const html = `<!doctype html><title>Work</title>
  <script>addEventListener('pageshow', (event) => { document.documentElement.dataset.restored = event.persisted })</script>
  <button onclick="count.textContent++">More</button> <output id="count">0</output>
  <label>Name <input id="name"></label>
  <label>Colour <select id="colour"><option>red<option>blue</select></label>
  <label><input type="checkbox" id="agreed"> Agreed</label>
  <label>Papers <input type="file" id="papers"></label>
  <ul id="list"><li draggable="true" id="first">First</li><li draggable="true" id="second">Second</li></ul>
  <p id="menu" onmouseenter="hint.hidden = false">Menu</p><p id="hint" hidden>Hovered</p>
  <div id="box" style="height: 60px; overflow: auto" tabindex="0" aria-label="Box" role="region">
    <p style="height: 900px">Long</p></div>
  <script>
    first.ondragstart = (event) => event.dataTransfer.setData('text/plain', 'first');
    list.ondragover = (event) => event.preventDefault();
    list.ondrop = () => list.append(first);
  </script>`;

// Every act once; what the page itself holds then.
async function work({ agent, page }: Stage): Promise<void> {
  const acting = new Acting(agent);
  const look = await acting.look({ full: true });
  const ref = (words: string): string => {
    const found = look.split(`${words} [`)[1]?.split(']')[0];
    expect(found, `${words} in\n${look}`).toBeDefined();
    return found ?? '';
  };
  const name = ref('textbox "Name"');
  expect((await acting.do('click', { ref: ref('button "More"') })).changes).toContain('"1"');
  const { filled = [] } = await acting.do('fill', {
    fields: [
      { ref: name, value: 'Ada' },
      { ref: ref('combobox "Colour"'), value: 'blue' },
      { ref: ref('checkbox "Agreed"'), value: true },
    ],
  });
  expect(filled.map(({ verified }) => verified)).toEqual([true, true, true]);
  await acting.do('press', { text: ' L.', ref: name });
  await acting.do('press', { keys: 'Home Delete', ref: name });
  const menu = (await agent.call('browser__find', { text: 'Menu' })).text.split('text [')[1]?.split(']')[0];
  expect((await acting.do('pointer', { action: 'hover', ref: menu })).changes).toContain('"Hovered"');
  await acting.do('pointer', { action: 'drag', ref: ref('listitem "First"'), to: ref('listitem "Second"') });
  await acting.do('pointer', { action: 'scroll', ref: ref('region "Box"'), at: { y: 200 } });
  await acting.do('upload', { ref: ref('file "Papers"'), files: [{ name: 'a.txt', text: 'a' }] });
  const more = { tool: 'click', ref: ref('button "More"') };
  const steps = await agent.call('browser__act', { steps: [more, more] });
  expect(steps.text).toMatch(/^1\. clicked (?:.*\n)*2\. clicked /);
  expect(await page.evaluate(stateOf)).toEqual({
    count: '3',
    name: 'da L.',
    colour: 'blue',
    agreed: true,
    files: ['a.txt'],
    items: ['Second', 'First'],
    scrolled: 200,
  });
}

function stateOf() {
  const field = (id: string) => {
    const found = document.getElementById(id);
    if (found instanceof HTMLInputElement || found instanceof HTMLSelectElement) return found;
    throw new Error(`no field ${id}`);
  };
  const agreed = field('agreed');
  const papers = field('papers');
  const items = document.getElementById('list')?.children ?? [];
  return {
    count: document.getElementById('count')?.textContent,
    name: field('name').value,
    colour: field('colour').value,
    agreed: agreed instanceof HTMLInputElement && agreed.checked,
    files: papers instanceof HTMLInputElement ? Array.from(papers.files ?? [], (file) => file.name) : [],
    items: Array.from(items, (item) => item.textContent),
    scrolled: document.getElementById('box')?.scrollTop,
  };
}

const restored = (page: Page) => page.evaluate(() => document.documentElement.dataset.restored);

test('a page that Back restored, which was looked at and used before, is used like any other', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { work: html, other: '<!doctype html><title>Other</title><p>Other' });
  await visit(stage, `${site}/work`);
  const acting = new Acting(stage.agent);
  const before = await acting.ref('button "More"');
  await acting.do('press', { keys: 'Tab' });
  await acting.agent.call('browser__navigate', { to: `${site}/other` });
  await acting.agent.call('browser__navigate', { to: 'back' });
  expect(await restored(stage.page)).toBe('true');
  expect(await acting.ref('button "More"')).toBe(before); // its elements are the same ones
  await work(stage);
});

test('a page that nobody looked at before Back restored it is used like any other', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { work: html, other: '<!doctype html><title>Other</title><p>Other' });
  await visit(stage, `${site}/work`);
  await visit(stage, `${site}/other`);
  await stage.agent.call('browser__navigate', { to: 'back' });
  expect(await restored(stage.page)).toBe('true');
  await work(stage);
});

test('a page behind another one, in a window of its own, is used like any other', async ({
  stage,
  closing,
}) => {
  await visit(stage, `${await openSite(closing, { work: html })}/work`);
  await stage.agent.call('browser__snapshot', {}); // the tab is this agent's from here on
  const front = await stage.browser.newPage(); // what the person looks at meanwhile
  await front.goto(stage.demo.url);
  const [worker = await stage.browser.waitForEvent('serviceworker')] = stage.browser.serviceWorkers();
  // Playwright has every page think that it is in front, so that Chrome is asked.
  const isInFront = async (url: string) => {
    const [tab] = await chrome.tabs.query({ url });
    if (tab === undefined) throw new Error('there is no such tab');
    return tab.active;
  };
  await worker.evaluate(async (url) => {
    const [tab] = await chrome.tabs.query({ url });
    if (tab?.id === undefined) throw new Error('there is no such tab');
    const made = await chrome.windows.create({ tabId: tab.id, focused: false });
    await chrome.tabs.create({ windowId: made?.id, active: true });
  }, stage.page.url());
  expect(await worker.evaluate(isInFront, stage.page.url())).toBe(false);
  await work(stage);
  expect(await worker.evaluate(isInFront, stage.page.url())).toBe(false);
});
