// Windows that pages open when an agent clicks: Chrome blocks them, and the page gets them all the same, as for a
// click of a person, behind what the person looks at.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import base, { expect, type Stage, visit } from '../stage/test.ts';

const tell =
  "out.textContent = w === null ? 'no window' : 'a window ' + (w.opener === window) + ' ' + w.name + '.'";
const pages = {
  main: `<!doctype html><title>Main</title>
    <button onclick="w = window.open('/next?plain'); ${tell}">Plain</button>
    <button onclick="w = window.open('/next?named', 'help', 'width=300,height=200'); ${tell}">Named</button>
    <button onclick="w = window.open('/next?alone', '_blank', 'noopener'); ${tell}">Alone</button>
    <button onclick="w = window.open(); w.document.write('<title>Made</title><h1>Made here</h1>'); w.document.close()">
      Written</button>
    <button onclick="setTimeout(() => { w = window.open('/next?late'); ${tell} }, 200)">Late</button>
    <button onclick="fetch('/next').then(() => { w = window.open('/next?fetched'); ${tell} })">Fetched</button>
    <button onclick="window.open('/next?1'); w = window.open('/next?2'); ${tell}">Two</button>
    <button onclick="w = window.open('/sign-in', 'sign-in', 'width=400,height=500'); ${tell}">Sign in</button>
    <button onclick="w = window.open('/next?self', '_self')">Here</button>
    <button onclick="w = window.open('javascript:document.title = 1 + 1'); ${tell}">Script</button>
    <form target="_blank" action="/next" method="post"><button>Form</button></form>
    <a href="/next?link" target="_blank">Link</a>
    <button onclick="document.open()">Empty</button>
    <iframe src="/framed" title="Inner"></iframe>
    <iframe src="/consent" title="Consent"></iframe>
    <p id="out"></p><p id="said"></p>
    <script>
      let w;
      onmessage = ({ data }) => {
        if (data === 'please') { w = window.open('/next?outer'); ${tell} }
        else if (data === 'agreed') document.querySelector('[title=Consent]').remove();
        else said.textContent = 'signed in by ' + data;
      };
    </script>`,
  framed: `<button onclick="parent.postMessage('please', '*')">Ask outside</button>
    <button onclick="w = window.open('/next?inner'); out.textContent = w === null ? 'no window' : 'inner window'">
      Inside</button><p id="out"></p><script>let w</script>`,
  consent: `<button onclick="parent.postMessage('agreed', '*')">Agree</button>
    <button>Calm</button><button onpointerover="parent.document.querySelector('[title=Consent]').remove()"
      onclick="parent.postMessage('bought', '*')">Buy</button>`,
  // What a click began keeps the page from everything else, for as long as it is there.
  hangs: `<!doctype html><title>Hangs</title><button>Buy</button><button onclick="out.textContent = 'soon';
    setTimeout(() => { console.log('hangs'); for (;;); }, 1500)">Hang</button>
    <p id="out"></p>`,
  next: '<!doctype html><title>Next</title><h1>The next page</h1>',
  'sign-in': `<!doctype html><title>Sign in</title><button onclick="opener.postMessage('Ada', '*'); window.close()">
    I am Ada</button>`,
};

const test = base.extend<{ agent: Acting & { stage: Stage; site: string } }>({
  agent: async ({ sharedStage: stage, closing }, use) => {
    const site = await openSite(closing, pages);
    await visit(stage, `${site}/main`);
    await use(Object.assign(new Acting(stage.agent), { stage, site }));
  },
});

test('a page gets the window that a click of an agent asks for, behind its own tab', async ({ agent }) => {
  const { stage, site } = agent;
  const opens = async (words: string, path: string, out: string | undefined) => {
    const effect = await agent.click(`button "${words}"`);
    expect(
      effect.opened?.map(({ url }) => url),
      words,
    ).toEqual([path === '' ? 'about:blank' : `${site}${path}`]);
    expect(effect.blockedWindows, words).toBeUndefined();
    if (out !== undefined) expect(effect.changes, words).toContain(`"${out}"`);
    expect(await stage.page.evaluate(() => document.visibilityState)).toBe('visible');
    const tabId = effect.opened?.[0]?.tabId;
    const there = await stage.agent.call('browser__snapshot', { tabId });
    await stage.agent.call('browser__close_tab', { tabId });
    return there.text;
  };
  expect(await opens('Plain', '/next?plain', 'a window true .')).toContain('h1 "The next page"');
  await opens('Named', '/next?named', 'a window true help.');
  await opens('Alone', '/next?alone', 'no window');
  await opens('Late', '/next?late', 'a window true .');
  await opens('Fetched', '/next?fetched', undefined);
  await opens('Form', '/next', undefined);
  await opens('Inside', '/next?inner', undefined);
  await opens('Ask outside', '/next?outer', undefined);
});

test('a page writes into the empty window that it opened', async ({ agent }) => {
  const opened = agent.stage.browser.waitForEvent('page');
  expect(await agent.click('button "Written"')).toMatchObject({ opened: [{ url: 'about:blank' }] });
  const made = await opened;
  await expect(made.getByRole('heading')).toHaveText('Made here');
  await made.close();
});

test('one window for each act, and the others are told as blocked', async ({ agent }) => {
  const two = await agent.click('button "Two"');
  expect(two).toMatchObject({
    opened: [{ url: `${agent.site}/next?1` }],
    blockedWindows: [`${agent.site}/next?2`],
    changes: expect.stringContaining('no window'),
  });
});

test('a window of another site signs in, tells the page that opened it, and closes itself', async ({
  agent,
}) => {
  const { stage } = agent;
  const { opened } = await agent.click('button "Sign in"');
  const tabId = opened?.[0]?.tabId ?? 0;
  const shown = (await stage.agent.call('browser__snapshot', { tabId })).text;
  expect(shown).toContain('button "I am Ada"');
  const ref = /button "I am Ada" \[(e\d+)\]/.exec(shown)?.[1];
  const clicked = await stage.agent.call('browser__click', { tabId, ref });
  expect(clicked.value).toMatchObject({
    outcome: 'executed',
    closed: true,
    note: 'It was done, and the tab is closed',
  });
  await expect.poll(() => stage.page.textContent('#said')).toBe('signed in by Ada');
});

test('the last step of several closes the window, and those before it are known to be done', async ({
  agent,
}) => {
  const { stage } = agent;
  const { opened } = await agent.click('button "Sign in"');
  const tabId = opened?.[0]?.tabId ?? 0;
  const ref = 'button "I am Ada"';
  const steps = [
    { tool: 'pointer', action: 'hover', ref },
    { tool: 'click', ref },
    { tool: 'press', keys: 'Enter' },
  ];
  const done = await stage.agent.call('browser__act', { tabId, steps });
  expect(done.value).toMatchObject({
    notDone: 1,
    note: 'What came of the steps before it went with the page',
    steps: [{ outcome: 'executed' }, { closed: true, on: expect.stringContaining(ref) }],
  });
  await expect.poll(() => stage.page.textContent('#said')).toBe('signed in by Ada');
});

test('an act whose page takes its frame away is done', async ({ agent }) => {
  expect(await agent.click('button "Agree"')).toMatchObject({
    note: 'It was done. Its frame went away, or to another page',
  });
  expect(await agent.look()).not.toContain('Agree');
});

test('an act whose frame goes before the click is not said to be done, alone or as a step', async ({
  agent,
}) => {
  expect((await agent.failure('click', { ref: 'button "Buy"' })).outcome).toBe('unknown');
  await visit(agent.stage, `${agent.site}/main`);
  const calm = await agent.ref('button "Calm"');
  const buy = await agent.ref('button "Buy"');
  const steps = [
    { tool: 'click', ref: calm },
    { tool: 'click', ref: buy },
  ];
  expect((await agent.failure('act', { steps })).outcome).toBe('unknown');
  expect(await agent.stage.page.textContent('#said')).toBe('');
});

test('an act is not done because one before it was', async ({ agent }) => {
  const { stage, site } = agent;
  await visit(stage, `${site}/hangs`);
  const other = await agent.ref('button "Buy"');
  const hangs = stage.page.waitForEvent('console');
  expect(await agent.click('button "Hang"')).toMatchObject({ outcome: 'executed' });
  await stage.browser.newPage(); // Chromium ends with its last tab
  await hangs;
  const buying = agent.failure('click', { ref: other });
  await expect.poll(() => stage.relay.asPerson('GET', '/api/v1/running')).toMatchObject({ calls: [{}] });
  await stage.page.close();
  expect((await buying).outcome).not.toBe('executed');
});

test('what leads the tab itself elsewhere is no window', async ({ agent }) => {
  const here = await agent.click('button "Here"');
  expect(here).toMatchObject({ url: `${agent.site}/next?self`, title: 'Next' });
  expect(here.opened).toBeUndefined();
});

test('a page that empties itself is told as gone', async ({ agent }) => {
  expect((await agent.click('button "Empty"')).changes).toMatch(/^- all before \(e\d+-e\d+\)$/);
});
