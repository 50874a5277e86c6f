// Documents that a javascript: address puts in the place of others. Chrome gives them the id of the one before, and
// keeps the ports of its scripts.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { testPlugin } from '../stage/plugin.ts';
import { expect, test, visit } from '../stage/test.ts';

test.use({ groundOptions: { plugins: { 'browser-dev': { enabled: true } } } });

const address = (words: string) =>
  `javascript:${JSON.stringify(`<title>${words}</title><button onclick="document.title = 'Pressed'">${words}</button>`)}`;

const old = (body = '') => `<!doctype html><title>Old</title><button>First</button>${body}`;

test('a page that a javascript: address replaced is read and used like any other', async ({
  sharedStage: stage,
  closing,
}) => {
  const page = old(`<a href="${address('Second').replaceAll('"', '&quot;')}">Go</a>`);
  await visit(stage, `${await openSite(closing, { page })}/page`);
  const acting = new Acting(stage.agent);
  await stage.agent.call('browser__console', {});
  const first = await acting.ref('button "First"');
  expect(await acting.click('link "Go"')).toMatchObject({ page: expect.stringContaining('button "Second"') });
  expect(await acting.failure('click', { ref: first })).toMatchObject({
    code: 'DOCUMENT_CHANGED',
    outcome: 'not_executed',
  });
  await stage.agent.call('browser__console', {});
  const run = await stage.agent.call('browser__evaluate', { code: 'console.log("said"), document.title' });
  expect(run.value).toMatchObject({ value: 'Second' });
  expect((await stage.agent.call('browser__console', {})).text).toContain('said');
  for (const words of ['Third', 'Fourth']) {
    await stage.page.evaluate((to) => void location.assign(to), address(words));
    await expect.poll(() => stage.page.title()).toBe(words);
    await acting.click(`button "${words}"`);
    expect(await stage.page.title()).toBe('Pressed');
  }
});

test('a frame that a javascript: address replaced gives no reference a second time', async ({
  sharedStage: stage,
  closing,
}) => {
  const page = old('<iframe src="/inner"></iframe>');
  await visit(stage, `${await openSite(closing, { page, inner: '<button>Inside</button>' })}/page`);
  const acting = new Acting(stage.agent);
  const inside = await acting.ref('button "Inside"');
  await stage.page.evaluate((to) => void frames[0]?.location.assign(to), address('Anew'));
  await expect.poll(() => acting.look({ full: true })).toContain('button "Anew"');
  expect(await acting.failure('click', { ref: inside })).toMatchObject({
    code: 'DOCUMENT_CHANGED',
    outcome: 'not_executed',
  });
  await acting.click('button "Anew"');
  await expect.poll(() => stage.page.frames()[1]?.title()).toBe('Pressed');
});

test('a page of a plugin that a javascript: address replaced has the plugin', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { page: old() });
  await stage.relay.tabrelay('plugin', 'add', await testPlugin('main-world', site, closing));
  await visit(stage, `${site}/page`);
  const title = async () => (await stage.agent.call('main-world__read_title')).text;
  await expect.poll(title).toContain('Old');
  await stage.page.evaluate((to) => void location.assign(to), address('Second'));
  await expect.poll(() => stage.page.title()).toBe('Second');
  expect(await title()).toContain('Second');
});
