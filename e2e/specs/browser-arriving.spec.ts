// A call that takes a tab to a page and looks at it: what it says, what it waits for, and where it may not look.
import { openFramed } from '../sites/framed.ts';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { expect, openStage, test, visit } from '../stage/test.ts';

const links = ['Garden', 'Kitchen', 'Cellar', 'Attic'].map((one) => `<a href="${one}">${one}</a>`).join('\n');
const page = (title: string, more = '') =>
  `<!doctype html><title>${title}</title><nav aria-label="Areas">${links}</nav><main><h1>${title}</h1>${more}</main>`;
const late = `<p id="late"></p><script>setTimeout(() => { late.innerHTML = '<button>Buy</button> now' }, 700)</script>`;

test('a page that a tab is taken to is looked at in the same call', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { one: page('One'), two: page('Two', late) });
  await visit(stage, `${site}/one`);
  const agent = new Acting(stage.agent);
  const go = (to: string, more: object) => stage.agent.call('browser__navigate', { to, ...more });
  const one = await go(`${site}/one`, { look: true });
  expect(one.text).toMatch(
    /^went to this page in tab \d+\npage "One" \S+\/one\nnavigation "Areas"\n link "Garden" \[e\d+\]\n/,
  );
  expect(one.value).toMatchObject({
    url: `${site}/one`,
    status: 'complete',
    page: expect.stringMatching(/^page/),
  });
  const two = await go(`${site}/two`, { until: 'buy' });
  expect(two.text).toMatch(
    /\nnavigation "Areas" \[e\d+\]: 4 lines as before\nmain\n h1 "Two"\n button "Buy" \[e\d+\]/,
  );
  const [, buy = ''] = /button "Buy" \[(e\d+)\]/.exec(two.text) ?? [];
  expect((await agent.do('click', { ref: buy })).outcome).toBe('executed');
  expect(await agent.look()).toBe('unchanged');
  const back = await go('back', { look: true });
  expect(back.text).toContain('h1 "One"');
  const never = await go('reload', { until: 'Never said' });
  expect(never.text).toMatch(/^went to this page in tab \d+\nmissing: "Never said"\npage "One"/);
  expect((await go(`${site}/two`, {})).text).toMatch(/^went to page "Two" \S+ in tab \d+$/);
});

test('who may not look at a site is told no more of it by going there', async ({ closing }) => {
  const site = await openSite(closing, { one: page('One'), two: page('Two', '<p>Words of it</p>') });
  const rules = { default: 'auto', browser__snapshot: 'off' };
  const stage = await openStage(closing, { guarded: true, config: { permissions: rules } });
  await visit(stage, `${site}/one`);
  const gone = await stage.agent.call('browser__navigate', { to: `${site}/two`, look: true, until: 'Words' });
  expect(gone.failed, gone.text).toBe(false);
  expect(gone.text).not.toContain('Words of it');
  expect(gone.text).toContain('you are not allowed on yet');
  expect(await stage.page.title()).toBe('Two');
});

test('what a look is not allowed on is not told on arrival: redirects, frames, what stands in them', async ({
  closing,
}) => {
  const { top, origin, site, alone } = await openFramed(closing);
  const away = await openSite(closing, { page: page('Elsewhere') });
  const rules = {
    default: 'auto',
    [`browser__snapshot@${site.off}`]: 'off',
    [`browser__snapshot@${site.ask}`]: 'ask',
  };
  const stage = await openStage(closing, { guarded: true, config: { permissions: rules } });
  const go = async (to: string, until?: string) => {
    await visit(stage, `${away}/page`);
    const gone = await stage.agent.call('browser__navigate', { to, look: true, ...(until && { until }) });
    expect(gone.failed, gone.text).toBe(false);
    return gone.text;
  };
  for (const state of ['off', 'ask'] as const)
    for (const to of [alone[state], `${origin}/to-${state}`]) {
      const told = await go(to, `Words alone-${state}`);
      expect(told, to).not.toMatch(/Words alone|missing/);
      expect(told, to).toContain('you are not allowed on yet');
    }
  expect(await go(`${origin}/to-auto`)).toContain('Words alone-auto');
  expect(await stage.relay.tabrelay('permit', 'pending')).not.toContain('browser__');

  const framed = await go(top, 'Words nested-off'); // nor by waiting for it
  expect(framed).toContain('missing: "Words nested-off"');
  expect(framed).toContain('Words foreign-auto');
  for (const state of ['off', 'ask'] as const) {
    expect(framed).toContain(`${site[state]} not readable`);
    for (const place of ['foreign', 'nested'])
      expect(framed).not.toContain(`button "Press ${place}-${state}"`);
  }
});
