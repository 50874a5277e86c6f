// Pictures with references drawn into them, and what has no reference named by its place in a picture.

import type { Page } from '@playwright/test';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import type { Agent } from '../stage/agent.ts';
import { differences, sizeOf, takePicture } from '../stage/taken.ts';
import { expect, openStage, test, visit } from '../stage/test.ts';

const buttons = (...names: string[]) =>
  names.map((name) => `<p style="margin:40px 60px"><button>${name}</button></p>`).join('');

const boxesOf = (page: Page, selector: string) =>
  page.locator(selector).evaluateAll((all) =>
    all.map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return { x, y, width, height };
    }),
  );

// What a page notices in its body; beside that is the mark by which every page shows who uses it.
async function watchDocument(page: Page): Promise<() => Promise<unknown>> {
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const note = (all: readonly MutationRecord[]) => {
      for (const { type, target, attributeName } of all)
        seen.push(`${type} ${target.nodeName} ${attributeName}`);
    };
    new MutationObserver(note).observe(document.body, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
  });
  return () => page.evaluate((): unknown => Reflect.get(window, 'seen'));
}

const references = (agent: Agent) =>
  agent
    .call('browser__snapshot', { interactive: true, full: true })
    .then(({ text }) => Array.from(text.matchAll(/button "[^"]*" \[((?:f\d+)?e\d+)\]/g), ([, ref]) => ref));

for (const [how, style] of [
  ['on white', ''],
  ['on black', 'background:#000;color:#fff'],
  ['on a pattern', 'background:repeating-linear-gradient(45deg,#000 0 40px,#fff 40px 80px)'],
  ['right to left', 'direction:rtl'],
  ['zoomed', 'zoom:1.7'],
] as const)
  test(`references are drawn beside what can be acted on, and the page is not touched: ${how}`, async ({
    sharedStage: stage,
    closing,
  }) => {
    const site = await openSite(closing, {
      page: `<!doctype html><html style="${style}"><body>${buttons('One', 'Two', 'Three')}</body></html>`,
    });
    await visit(stage, `${site}/page`);
    const { agent, page } = stage;
    await page.bringToFront();
    const changes = await watchDocument(page);
    const before = await page.locator('body').innerHTML();
    const plain = await takePicture(agent);
    const labelled = await takePicture(agent, { labels: true });
    expect(await changes()).toEqual([]);
    expect(await page.locator('body').innerHTML()).toBe(before);
    expect(labelled.note).toMatch(/^1\d\d\d x \d+ pixels, 1 to one of CSS; 3 references$/);
    for (const { inside, around } of await differences(
      page,
      [plain, labelled],
      await boxesOf(page, 'button'),
    )) {
      expect(inside, 'the control is not covered').toBe(0);
      expect(around, 'a reference is beside it').toBeGreaterThan(100);
    }
    const [first = ''] = await references(agent);
    expect((await agent.call('browser__click', { ref: first })).text).toContain('clicked button "One"');
  });

test('references of frames are drawn, of what is covered or off the screen none, in a scrolled page too', async ({
  sharedStage: stage,
  closing,
}) => {
  const inner = await openSite(closing, { inner: `<body style="margin:0">${buttons('Inside')}</body>` });
  const site = await openSite(closing, {
    page: `<!doctype html><body style="margin:0"><div style="height:900px"><button>Above</button></div>
${buttons('Seen')}<iframe src="${inner}/inner" style="width:400px;height:140px;margin-left:300px"></iframe>
<button id="covered" style="position:absolute;left:700px;top:940px">Covered</button>
<div style="position:absolute;left:650px;top:900px;width:300px;height:120px;background:#999">over it</div>
<div style="height:3000px"></div></body>`,
  });
  await visit(stage, `${site}/page`);
  const { agent, page } = stage;
  await page.bringToFront();
  await page.evaluate(() => scrollTo(0, 850));
  const plain = await takePicture(agent);
  const labelled = await takePicture(agent, { labels: true });
  expect(labelled.note).toContain('; 2 references');
  const [seen, frame, covered] = await Promise.all(
    ['p button', 'iframe', '#covered'].map(async (one) => (await boxesOf(page, one))[0]),
  );
  if (!seen || !frame || !covered) throw new Error('the page has no boxes');
  const inside = { x: frame.x + 62, y: frame.y + 42, width: 40, height: 18 };
  const found = await differences(page, [plain, labelled], [seen, inside, covered]);
  expect(found.map(({ around }) => around > 100)).toEqual([true, true, false]);
  expect(await page.evaluate(() => scrollY)).toBe(850);
});

test('the references of a picture are those of snapshots, and a picture of the whole page has all', async ({
  sharedStage: stage,
  closing,
}) => {
  const names = Array.from({ length: 24 }, (_, i) => `Row ${i}`);
  const site = await openSite(closing, { page: `<!doctype html><body>${buttons(...names)}</body>` });
  await visit(stage, `${site}/page`);
  const { agent, page } = stage;
  await page.bringToFront();
  const plain = await takePicture(agent, { full: true });
  const labelled = await takePicture(agent, { full: true, labels: true });
  expect(labelled.note).toContain('; 24 references');
  const all = await differences(page, [plain, labelled], await boxesOf(page, 'button'));
  expect(all.map(({ inside }) => inside)).toEqual(names.map(() => 0));
  expect(all.every(({ around }) => around > 100)).toBe(true);
  expect(await references(agent)).toEqual(names.map((_, i) => `e${i + 1}`));
});

test('where things stand close, references are smaller, over their own thing, and none over another', async ({
  closing,
}) => {
  // A screen of twice the pixels: the picture is told in the scale in which it is answered.
  const stage = await openStage(closing, { browserFlags: ['--force-device-scale-factor=2'] });
  const square = (size: number, n: number) =>
    `<button title="Day ${n}" style="width:${size}px;height:${size}px;padding:0;margin:0">${n}</button>`;
  const grid = (size: number, many: number) =>
    `<div style="display:flex;flex-wrap:wrap;gap:2px;width:${8 * (size + 2)}px">${Array.from(
      { length: many },
      (_, n) => square(size, n),
    ).join('')}</div>`;
  const site = await openSite(closing, { days: grid(24, 160), dots: grid(9, 160) });
  const { agent, page } = stage;
  for (const [name, drawn] of [
    ['days', /^1280 x 720 pixels, 1 to one of CSS; 160 references$/],
    ['dots', /; \d+ references, \d+ more too close to draw: snapshot tells them$/],
  ] as const) {
    await visit(stage, `${site}/${name}`);
    await page.bringToFront();
    const plain = await takePicture(agent);
    const labelled = await takePicture(agent, { labels: true });
    expect(labelled.note).toMatch(drawn);
    const said = Array.from(labelled.note.matchAll(/(\d+) (?:references|more)/g), ([, n]) => Number(n));
    expect(said.reduce((sum, n) => sum + n)).toBe(160);
    if (name === 'dots') continue;
    const changed = await differences(page, [plain, labelled], await boxesOf(page, 'button'));
    expect(
      changed.filter(({ inside }) => inside > 400),
      'most of a control is seen',
    ).toEqual([]);
    expect(changed.filter(({ inside }) => inside > 50).length).toBeGreaterThan(100);
  }
});

const drawing = `<!doctype html><title>Drawing</title><body style="margin:0">
<canvas width="600" height="400" style="position:absolute;left:50px;top:60px;border:0"></canvas>
<button style="position:absolute;left:700px;top:100px">Save</button>
<output style="position:absolute;top:500px"></output><div style="height:3000px"></div><script>
  const canvas = document.querySelector('canvas');
  canvas.getContext('2d').fillRect(0, 0, 600, 400);
  for (const type of ['click', 'dblclick', 'mousemove', 'mouseup', 'wheel'])
    canvas.addEventListener(type, ({ offsetX, offsetY }) => {
      document.querySelector('output').textContent = type + ' ' + offsetX + ' ' + offsetY;
    });
</script></body>`;

test('a place in a picture is clicked where nothing has a reference, and nowhere else', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { drawing, other: '<p>other</p>' });
  await visit(stage, `${site}/drawing`);
  const { agent, page } = stage;
  const acting = new Acting(agent);
  await page.bringToFront();
  const said = () => page.locator('output').textContent();
  await acting.look();
  const none = await acting.failure('click', { x: 100, y: 100 });
  expect(none).toMatchObject({
    code: 'VALIDATION_ERROR',
    outcome: 'not_executed',
    hint: 'Call screenshot first.',
  });

  await takePicture(agent);
  expect(await acting.do('click', { x: 150, y: 180 })).toMatchObject({
    on: expect.stringMatching(/^canvas .*\[e\d+\]$/),
    changes: expect.stringContaining('click 100 120'),
  });
  await acting.do('click', { x: 160, y: 180, count: 2 });
  expect(await said()).toBe('dblclick 110 120');
  await acting.do('pointer', { action: 'hover', x: 170, y: 190 });
  expect(await said()).toBe('mousemove 120 130');
  await acting.do('pointer', { action: 'drag', x: 170, y: 190, at: { x: 30, y: 40 } });
  expect(await said()).toBe('mouseup 150 170');
  await agent.call('browser__act', { steps: [{ tool: 'click', x: 90, y: 100 }] });
  expect(await said()).toBe('click 40 40');

  const ref = await acting.ref('button "Save"');
  const taken = await acting.failure('click', { x: 715, y: 110 });
  expect(taken).toMatchObject({
    code: 'VALIDATION_ERROR',
    outcome: 'not_executed',
    hint: `Pass ref: "${ref}" instead.`,
  });
  for (const wrong of [{ x: 5000, y: 10 }, { x: -1, y: 10 }, { x: 10 }, { x: 100, y: 100, ref }, {}])
    expect(await acting.failure('click', wrong), JSON.stringify(wrong)).toMatchObject({
      code: 'VALIDATION_ERROR',
      outcome: 'not_executed',
    });
  expect(await said(), 'nothing was done').toBe('click 40 40');
});

test('a place means nothing once the page was scrolled, resized, moved or left since the picture', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { drawing });
  await visit(stage, `${site}/drawing`);
  const { agent, page } = stage;
  const acting = new Acting(agent);
  await page.bringToFront();
  const clicked = async (change: () => Promise<unknown>) => {
    await takePicture(agent);
    await change();
    return acting.failure('click', { x: 150, y: 180 });
  };
  const stale = { code: 'TARGET_CHANGED', outcome: 'not_executed' };
  expect(await clicked(() => page.evaluate(() => scrollBy(0, 40)))).toMatchObject(stale);
  await page.evaluate(() => scrollTo(0, 0));
  expect(
    await clicked(() => page.evaluate(() => document.documentElement.style.setProperty('zoom', '1.2'))),
  ).toMatchObject(stale);
  await page.evaluate(() => document.documentElement.style.removeProperty('zoom'));
  const move = () => page.locator('canvas').evaluate((one) => one.style.setProperty('left', '60px'));
  expect(await clicked(move)).toMatchObject(stale);
  const cover = () =>
    page.evaluate(() => {
      const over = document.body.appendChild(document.createElement('div'));
      over.style.cssText = 'position:fixed;inset:0;background:#fff';
    });
  expect(await clicked(cover)).toMatchObject(stale);
  const gone = { code: 'DOCUMENT_CHANGED', outcome: 'not_executed' };
  expect(await clicked(() => page.evaluate(() => history.pushState(null, '', '?next')))).toMatchObject(gone);
  expect(await clicked(() => page.reload())).toMatchObject(gone);
  expect(await page.locator('output').textContent()).toBe('');
});

test('places reach into frames, in parts and pictures of the whole page too', async ({
  sharedStage: stage,
  closing,
}) => {
  const inner = await openSite(closing, { drawing });
  const site = await openSite(closing, {
    page: `<!doctype html><body style="margin:0"><div style="height:1500px"></div>
<iframe src="${inner}/drawing" style="margin-left:100px;width:700px;height:600px;border:0"></iframe>
<div style="height:1500px"></div></body>`,
  });
  await visit(stage, `${site}/page`);
  const { agent, page } = stage;
  const acting = new Acting(agent);
  await page.bringToFront();
  const whole = await takePicture(agent, { full: true });
  const scale = Number(/, ([\d.]+) to one of CSS/.exec(whole.note)?.[1] ?? 1);
  const at = (x: number, y: number) => ({ x: Math.round(x * scale), y: Math.round(y * scale) });
  const output = page.frameLocator('iframe').locator('output');
  await acting.do('click', at(100 + 150, 1500 + 160));
  expect(await output.textContent()).toMatch(/^click (?:99|100|101) (?:99|100|101)$/);
  const ref = /frame .*\[(e\d+)\]/.exec((await agent.call('browser__snapshot', { full: true })).text)?.[1];
  const part = await takePicture(agent, { ref });
  expect(await sizeOf(page, part)).toMatchObject({ width: 700 });
  await acting.do('click', { x: 250, y: 260 });
  expect(await output.textContent()).toBe('click 200 200');
});

test('of a tab behind another one a picture takes the debugger, which is gone after it', async ({
  closing,
}) => {
  const stage = await openStage(closing, { config: { trustedInput: true } });
  const site = await openSite(closing, {
    page: `<title>Behind</title>${buttons('One', 'Two')}`,
    other: 'other',
  });
  await visit(stage, `${site}/page`);
  const { agent, page, browser } = stage;
  await page.bringToFront();
  const front = await takePicture(agent, { labels: true });
  const other = await browser.newPage();
  await other.goto(`${site}/other`);
  await other.bringToFront();
  const behind = await takePicture(agent, { labels: true });
  expect(behind.note).toContain('; 2 references');
  const size = await sizeOf(page, behind);
  expect(size).toEqual(await sizeOf(page, front));
  const [all] = await differences(page, [front, behind], [{ x: 0, y: 0, width: 600, height: 400 }]);
  expect(all?.inside, 'the same is seen').toBeLessThan(50);
});

test('a question names what is at the place that is to be clicked', async ({ closing }) => {
  const permissions = { browser__screenshot: 'auto', browser__snapshot: 'auto' };
  const stage = await openStage(closing, { guarded: true, config: { permissions } });
  const site = await openSite(closing, { drawing });
  await visit(stage, `${site}/drawing`);
  await stage.page.bringToFront();
  await takePicture(stage.agent);
  const clicked = stage.agent.call('browser__click', { x: 150, y: 180 });
  const pending = async () => {
    const said: unknown = JSON.parse(await stage.relay.tabrelay('permit', 'pending', '--json'));
    return JSON.stringify(said);
  };
  await expect.poll(pending).toContain('Click drawing area without a name');
  expect(await pending()).toContain(', at 150, 180 of its picture');
  expect(await stage.page.locator('output').textContent()).toBe('');
  const [, id = ''] = /"id":"([^"]+)"/.exec(await pending()) ?? [];
  await stage.relay.person('permit', 'allow', id);
  expect((await clicked).text).toContain('click 100 120');
});
