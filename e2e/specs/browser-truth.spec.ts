// What an act did to a page that complains or blocks, and a page of very many frames.
import { largePages } from '../sites/large.ts';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { expect, test, visit } from '../stage/test.ts';

test('errors that the page writes while an act runs are told, and no others', async ({
  keptStage: stage,
  closing,
}) => {
  const site = await openSite(closing, {
    noisy: `<!doctype html><title>Noisy</title><button id="b">Noise</button><button id="c">Quiet</button><script>
      console.error('before');
      b.onclick = () => { console.error('no stock', 7); setTimeout(() => { throw new Error('not caught'); }); };
    </script>`,
  });
  await visit(stage, `${site}/noisy`);
  const agent = new Acting(stage.agent);
  const ref = await agent.ref('button "Noise"');
  await agent.do('click', { ref });
  const noisy = await agent.do('click', { ref });
  expect(noisy.consoleErrors).toEqual([
    expect.stringContaining('no stock 7'),
    expect.stringContaining('not caught'),
  ]);
  expect(noisy.noEffect).toBe(true);
  expect((await agent.click('button "Quiet"')).consoleErrors).toBeUndefined();
});

test('of very many frames those on the screen are told, and which are not', async ({
  sharedStage: stage,
  closing,
}) => {
  const frames = Array.from(
    { length: 200 },
    (_, n) => `<iframe title="F${n}" srcdoc="<p>inside ${n}</p>"></iframe>`,
  );
  const site = await openSite(closing, {
    frames: `<!doctype html><title>Frames</title>${frames.join('')}<script>scrollTo(0, 1e6)</script>`,
  });
  await visit(stage, `${site}/frames`);
  const { text } = await stage.agent.call('browser__snapshot', { maxTokens: 50_000 });
  expect(text).toContain('"inside 199"');
  expect(text.match(/"inside /g)).toHaveLength(30);
  const left = /frame "F100" \[(e\d+)\]\n \(not looked into: ref \1\)/.exec(text)?.[1];
  expect((await stage.agent.call('browser__snapshot', { ref: left })).text).toContain('"inside 100"');
});

const dialogs: [kind: string, open: string, close: string][] = [
  ['a dialog of Chrome', 'd.showModal()', 'd.close()'],
  ['one of the page’s own', 'd.open = true; main.inert = true', 'd.open = false; main.inert = false'],
  [
    'one that hides the page from screen readers',
    "d.open = true; main.setAttribute('aria-hidden', 'true')",
    "d.open = false; main.removeAttribute('aria-hidden')",
  ],
];

for (const [kind, open, close] of dialogs)
  test(`of the page behind a modal dialog only what changed is told when that closes: ${kind}`, async ({
    keptStage: stage,
    closing,
  }) => {
    const rows = Array.from(
      { length: 30 },
      (_, n) => `<p id="p${n}">Line ${n} <button>Do ${n}</button></p>`,
    ).join('');
    const site = await openSite(closing, {
      modal: `<!doctype html><title>Modal</title><main id="main">${rows}<button onclick="${open}">Ask</button></main>
        <dialog id="d" aria-label="Sure" aria-modal="true"><p>Really?</p><button onclick="${close};
          p3.firstChild.data = 'Line three '; p4.remove()">Yes</button><button>No</button></dialog>`,
    });
    await visit(stage, `${site}/modal`);
    const agent = new Acting(stage.agent);
    const first = await agent.ref('button "Do 7"');
    const opened = await agent.click('button "Ask"');
    expect(opened.changes).toContain('+ dialog "Sure" modal');
    expect(opened.changes).toMatch(/- \d+ lines behind the dialog, as they were/);
    expect(opened.changes).not.toContain('Line 7');
    const yes = /button "Yes" \[(e\d+)\]/.exec(opened.changes ?? '')?.[1];
    const closed = await agent.do('click', { ref: yes });
    expect(closed.changes).toMatch(/^~ "Line three"\n- dialog "Sure" modal\n- "Line 4"\n- button "Do 4" .*$/);
    expect((await agent.look()).trim()).toBe('unchanged');
    expect((await agent.do('click', { ref: first })).on).toContain('button "Do 7"');
  });

test('what moves when the page is drawn is clicked once it rests, however seldom that is', async ({
  keptStage: stage,
  closing,
}) => {
  const script = `<button id="box" style="position: absolute; top: 0" onclick="clicked.push(moves)">Box</button><script>
    let moves = false;
    const clicked = [];
    function move() {
      moves = true;
      const end = performance.now() + 400;
      requestAnimationFrame(function draw() {
        box.style.left = (performance.now() / 5) % 500 + 'px';
        moves = performance.now() < end;
        if (moves) requestAnimationFrame(draw);
      });
    }</script>`;
  const site = await openSite(closing, { large: `${largePages.cards}${script}` });
  await visit(stage, `${site}/large`);
  const agent = new Acting(stage.agent);
  const { text } = await stage.agent.call('browser__find', { text: 'Box', role: 'button' });
  const ref = /button "Box" \[(e\d+)\]/.exec(text)?.[1];
  for (let n = 0; n < 8; n++) {
    await stage.page.evaluate('move()');
    await agent.do('click', { ref });
  }
  expect(await stage.page.evaluate('clicked')).toEqual(new Array(8).fill(false));
});
