// Frames of other origins are read and waited for like the page around them.
import { z } from 'zod';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { expect, test, visit } from '../stage/test.ts';

const framesShape = z.object({ frames: z.array(z.object({ ref: z.string(), url: z.string() })) });

test('texts in frames are read and waited for', async ({ sharedStage: stage, closing }) => {
  const { agent, page } = stage;
  const inner = await openSite(closing, {
    terms: `<!doctype html><title>Terms</title><p id="p">Working</p><input aria-label="Code" id="i">
<a href="/more">More terms</a><div id="host"></div>
<script>host.attachShadow({ mode: 'open' }).innerHTML = '<p>in the shadow</p>';</script>`,
  });
  const site = await openSite(closing, {
    shop: `<!doctype html><title>Shop</title><p>Around it</p><iframe title="Terms" src="${inner}/terms"></iframe>
<iframe hidden src="${inner}/terms"></iframe>`,
  });
  await visit(stage, `${site}/shop`);
  const whole = await agent.call('browser__read', { what: 'text' });
  const { frames } = framesShape.parse(whole.value);
  expect(frames).toEqual([{ ref: 'e1', url: `${inner}/terms` }]);
  const text = await agent.call('browser__read', { what: 'text', ref: 'e1' });
  expect(text.value).toMatchObject({ url: `${inner}/terms`, text: expect.stringContaining('Working') });
  const seen = (await agent.call('browser__snapshot')).text;
  const ref = /textbox "Code" \[(f\d+e\d+)\]/.exec(seen)?.[1] ?? '';
  expect((await agent.call('browser__read', { what: 'links', ref })).value).toMatchObject({
    links: [{ text: 'More terms' }],
  });
  const wait = async (condition: Record<string, unknown>) =>
    (await agent.call('browser__wait', condition)).text;
  expect(await wait({ text: 'in the shadow' })).toBe('"in the shadow" is there');
  const late = await agent.call('browser__wait', { gone: 'Working', timeoutMs: 600 });
  expect(late.code).toBe('WAIT_TIMEOUT');
  const all = Promise.all([wait({ text: 'Ready' }), wait({ gone: 'Working' }), wait({ ref, value: '42' })]);
  await page
    .frames()
    .find((one) => one.url() === `${inner}/terms` && one.parentFrame() !== null)
    ?.evaluate(() => {
      for (const [id, words] of [['p', 'Ready now']] as const)
        document.getElementById(id)?.replaceChildren(words);
      const field = document.getElementById('i');
      if (field instanceof HTMLInputElement) field.value = '42';
    });
  const said = (await all).map((text) => text.split('\n'));
  expect(said.map(([first]) => first)).toEqual([
    '"Ready" is there',
    '"Working" is gone',
    `${ref} has that value`,
  ]);
  const news = said.flatMap(([, ...lines]) => lines);
  expect(news, 'each change is told once').toEqual(['~ "Ready now"', `~ textbox "Code" [${ref}] = "42"`]);
});

const framed = (inner: string) => ({
  outer: '<!doctype html><title>Outer</title><iframe id="f" src="/inner" title="In"></iframe>',
  inner: `<!doctype html><title>Inner</title>${inner}`,
  next: '<!doctype html><title>Next</title>next page',
});

test('an act in a frame that leads the page around it elsewhere was done', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(
    closing,
    framed(`<a href="/next" target="_top">Top</a>
      <button onclick="top.location.href = '/next'">Script</button>
      <form action="/next" target="_top"><button>Send</button></form>`),
  );
  const agent = new Acting(stage.agent);
  for (const words of ['link "Top"', 'button "Script"', 'button "Send"']) {
    await visit(stage, `${site}/outer`);
    const effect = await agent.click(words);
    expect(effect.url).toContain('/next');
    expect(effect.page).toContain('next page');
  }
});

test('an act in a frame that takes the frame away was done', async ({ sharedStage: stage, closing }) => {
  const site = await openSite(
    closing,
    framed('<button onclick="parent.document.body.textContent = \'saved\'">Save</button>'),
  );
  await visit(stage, `${site}/outer`);
  const effect = await new Acting(stage.agent).click('button "Save"');
  expect(effect.note).toContain('It was done');
  expect(effect.page).toContain('"saved"');
});

test('dialogs and windows of a frame are those of the act', async ({ sharedStage: stage, closing }) => {
  const site = await openSite(
    closing,
    framed(`<button onclick="this.textContent = confirm('Sure?') ? 'yes' : 'no'">Ask</button>
      <button onclick="window.open('/next'); window.open('/inner')">Two</button>`),
  );
  await visit(stage, `${site}/outer`);
  const agent = new Acting(stage.agent);
  const asked = await agent.click('button "Ask"', { dialogs: 'accept' });
  expect(asked.dialogs).toEqual([{ kind: 'confirm', text: 'Sure?', answered: 'accepted' }]);
  expect(asked.changes).toContain('button "yes"');
  const two = await agent.click('button "Two"');
  expect(two.opened).toMatchObject([{ url: `${site}/next` }]);
  expect(two.blockedWindows).toEqual([`${site}/inner`]);
});
