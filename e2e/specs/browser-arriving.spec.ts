// A call that takes a tab to a page and looks at it: what it says, what it waits for, and where it may not look.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { expect, test, visit } from '../stage/test.ts';

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
