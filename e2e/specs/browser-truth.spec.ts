// What an act did to a page that complains or blocks, and a page of very many frames.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { expect, test, visit } from '../stage/test.ts';

test('errors that the page writes while an act runs are told, and no others', async ({
  sharedStage: stage,
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
    { length: 500 },
    (_, n) => `<iframe title="F${n}" srcdoc="<p>inside ${n}</p>"></iframe>`,
  );
  const site = await openSite(closing, {
    frames: `<!doctype html><title>Frames</title>${frames.join('')}<script>scrollTo(0, 1e6)</script>`,
  });
  await visit(stage, `${site}/frames`);
  const { text } = await stage.agent.call('browser__snapshot', { maxTokens: 50_000 });
  expect(text).toContain('"inside 499"');
  expect(text.match(/"inside /g)).toHaveLength(30);
  const left = /frame "F200" \[(e\d+)\]\n \(not looked into: ref \1\)/.exec(text)?.[1];
  expect((await stage.agent.call('browser__snapshot', { ref: left })).text).toContain('"inside 200"');
});
