// The frame of a developers' tool is the one that was named, or the call is refused: never the page in its place.
import { openSite } from '../sites/own-pages.ts';
import { expect, test, visit } from '../stage/test.ts';

test.use({ groundOptions: { plugins: { 'browser-dev': { enabled: true } } } });

const inner = (nested: string) => `<!doctype html><title>Inner</title><p>inside</p><button>Inside</button>
<script>localStorage.of = 'inner'; document.documentElement.ran = 0;</script>${nested}`;

test('a frame is named by its line, by any reference in it, or by its number', async ({
  sharedStage: stage,
  closing,
}) => {
  const deep = await openSite(closing, { deep: inner('') });
  const framed = await openSite(closing, {
    inner: inner(`<iframe title="Deep" src="${deep}/deep"></iframe>`),
  });
  const site = await openSite(closing, {
    page: `<!doctype html><title>Top</title><button>Outside</button>
      <iframe title="In" src="${framed}/inner"></iframe>`,
  });
  await visit(stage, `${site}/page`);
  const seen = (await stage.agent.call('browser__snapshot')).text;
  const refOf = (words: string) => new RegExp(`${words}[^[]*\\[([a-z0-9]+)\\]`).exec(seen)?.[1] ?? words;
  const where = async (frame: string) => {
    const answer = await stage.agent.call('browser__evaluate', { code: 'location.origin', frame });
    return answer.failed ? answer.text : answer.value;
  };
  const inside = refOf('button "Inside"');
  for (const frame of [refOf('frame "In"'), inside, inside.replace(/e\d+$/, '')])
    expect(await where(frame), frame).toEqual({ value: framed });
  expect(await where(refOf('frame "Deep"'))).toEqual({ value: deep });
  const kept = await stage.agent.call('browser__storage', { action: 'list', frame: refOf('frame "In"') });
  expect(kept.value).toMatchObject({ origin: framed });
});

test('a frame that there is not is refused, with those there are', async ({
  sharedStage: stage,
  closing,
}) => {
  const framed = await openSite(closing, { inner: inner('') });
  const site = await openSite(closing, {
    page: `<!doctype html><title>Top</title><button onclick="document.querySelector('iframe').remove()">Outside</button>
      <iframe title="In" src="${framed}/inner"></iframe>`,
  });
  await visit(stage, `${site}/page`);
  const refusals = async (frames: readonly string[], says: string) => {
    const calls: [string, Record<string, unknown>][] = [
      ['evaluate', { code: 'document.title = "ran"' }],
      ['console', {}],
      ['storage', { action: 'list' }],
      ['performance', {}],
    ];
    for (const frame of frames)
      for (const [tool, args] of calls) {
        const answer = await stage.agent.call(`browser__${tool}`, { ...args, frame });
        expect(answer.failed, `${tool} ${frame}: ${answer.text}`).toBe(true);
        expect(answer.facts.outcome).toBe('not_executed');
        expect(answer.text).toContain(says);
      }
    expect(await stage.page.title()).toBe('Top');
  };
  const bad = ['nonsense', '*', '', 'e999', 'f77e1', 'f9', 'top', framed];
  await refusals(bad, `f1 (${framed})`); // before anybody has looked at the page
  const looked = await stage.agent.call('browser__evaluate', { code: 'location.origin', frame: 'f1' });
  expect(looked.value).toEqual({ value: framed });
  const seen = (await stage.agent.call('browser__snapshot')).text;
  const refOf = (words: string) => new RegExp(`${words}[^[]*\\[([a-z0-9]+)\\]`).exec(seen)?.[1] ?? words;
  const gone = [refOf('button "Inside"'), refOf('frame "In"')];
  await refusals([refOf('button "Outside"')], `f1 (${framed})`); // in the page itself
  await stage.page.getByRole('button').first().click();
  await refusals(gone, 'The page shows no frames');
});
