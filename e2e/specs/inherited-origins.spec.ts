// Documents without an address of their own are judged by what made them: what a site that is off writes into frames is as
// closed as its own page, however it does that.
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { expect, test, visit } from '../stage/test.ts';

const kinds = [
  'written',
  'srcdoc',
  'blob',
  'data',
  'script',
  'sandboxed srcdoc',
  'sandboxed blob',
  'nested',
  'nested data',
] as const;

/** A page that makes a frame of every kind, whose words begin with whose they are. */
const maker = (
  whose: string,
  more = '',
) => `<!doctype html><title>${whose}</title><p>Words ${whose} itself</p><script>
const inner = (words) => '<!doctype html><title>Title ' + words + '</title><p>Words ' + words + '</p>' +
  '<button onclick="globalThis.touched = true">Press ' + words + '</button>';
const frame = (kind) => {
  const made = document.createElement('iframe');
  made.title = '${whose} ' + kind;
  made.width = 300;
  made.height = 80;
  if (kind.startsWith('sandboxed')) made.sandbox = 'allow-scripts';
  return made;
};
const blobOf = (html) => URL.createObjectURL(new Blob([html], { type: 'text/html' }));
const dataOf = (html) => 'data:text/html,' + encodeURIComponent(html);
const write = (made, html) => {
  made.contentDocument.open();
  made.contentDocument.write(html);
  made.contentDocument.close();
};
for (const kind of ${JSON.stringify(kinds)}) {
  const made = frame(kind);
  const html = inner('${whose} ' + kind);
  if (kind.endsWith('srcdoc')) made.srcdoc = html;
  if (kind.endsWith('blob')) made.src = blobOf(html);
  if (kind === 'data') made.src = dataOf(html);
  if (kind === 'script') made.src = 'javascript:' + JSON.stringify(html);
  document.body.append(made);
  if (kind === 'written') write(made, html);
  if (kind.startsWith('nested')) {
    write(made, '<!doctype html><p>Around');
    const deep = made.contentDocument.createElement('iframe');
    deep.title = 'deep';
    if (kind === 'nested') deep.srcdoc = html;
    else deep.src = dataOf(html);
    made.contentDocument.body.append(deep);
  }
}
</script>${more}`;

test('frames without an address of their own are as closed as what made them', async ({
  sharedStage: stage,
  closing,
}) => {
  const bank = await openSite(closing, { page: maker('bank') });
  const forum = await openSite(closing, {
    page: maker('forum', `<iframe title="bank" src="${bank}/page" width="700" height="900"></iframe>`),
  });
  await visit(stage, `${forum}/page`);
  const agent = new Acting(stage.agent);
  const look = () => agent.look({ full: true, maxTokens: 20_000 });
  await expect.poll(look, { message: 'all frames are there' }).toContain('Words bank nested data');
  const before = await look();
  const readable = kinds.filter((kind) =>
    ['forum', 'bank'].every((by) => before.includes(`Words ${by} ${kind}`)),
  );
  expect(readable, 'Chrome lets no extension into blob: documents').toEqual(
    expect.arrayContaining(kinds.filter((kind) => !kind.endsWith('blob') && kind !== 'script')),
  );
  const refs = readable.map(
    (kind) => /\[(\w+)\]/.exec(before.split(`button "Press bank ${kind}"`)[1] ?? '')?.[1] ?? '',
  );
  expect(refs).not.toContain('');

  for (const [mode, told] of [
    ['ask', 'ask'],
    ['off', 'off'],
  ] as const) {
    await stage.relay.tabrelay('permit', 'set', bank, mode);
    for (const [tool, args] of [
      ['browser__snapshot', { full: true, maxTokens: 20_000 }],
      ['browser__find', { text: 'Words' }],
      ['browser__read', { what: 'text' }],
    ] as const) {
      const answer = await stage.agent.call(tool, args);
      const text = answer.texts.join('\n');
      expect(text, `${tool} ${mode}`).not.toMatch(/(Words|Press|Title) bank/);
      expect(text, `${tool} ${mode}`).toContain(`${bank} not readable: ${told}`);
      if (tool === 'browser__read') continue; // it tells of frames only that they are there
      for (const kind of ['itself', ...readable])
        expect(text, `${tool} ${mode}`).toContain(`Words forum ${kind}`);
    }
  }
  for (const [at, ref] of refs.entries()) {
    const refused = await agent.failure('click', { ref });
    expect([refused.code, refused.outcome], readable[at]).toEqual(['PERMISSION_DENIED', 'not_executed']);
  }
  for (const frame of stage.page.frames())
    expect(await frame.evaluate('globalThis.touched'), frame.url()).toBeUndefined();
});

test('what a site that is off makes of a frame of another page is closed as well', async ({
  sharedStage: stage,
  closing,
}) => {
  // The frame stands in the forum's page; the bank, whose page it showed, has put other documents there.
  const put = ['written', 'blank'] as const;
  const bank = await openSite(closing, {
    page: `<!doctype html><p>Words bank itself</p><script>
addEventListener('message', ({ data: kind }) => {
  const html = '<!doctype html><p>Words bank ' + kind + '</p>';
  const other = parent.frames[kind];
  if (kind === 'written') { other.document.open(); other.document.write(html); other.document.close(); }
  if (kind === 'blank') {
    other.location = 'about:blank';
    const wait = () => {
      if (other.location.href !== 'about:blank' || other.document.body === null) return setTimeout(wait, 10);
      other.document.body.innerHTML = '<p>Words bank ' + kind + '</p>';
    };
    wait();
  }
});
</script>`,
    other: '<!doctype html><p>Words bank before',
  });
  const frames = put
    .map((kind) => `<iframe name="${kind}" title="${kind}" src="${bank}/other"></iframe>`)
    .join('');
  const forum = await openSite(closing, {
    page: `<!doctype html><p>Words forum</p><iframe name="maker" src="${bank}/page"></iframe>${frames}`,
  });
  await visit(stage, `${forum}/page`);
  const agent = new Acting(stage.agent);
  const look = () => agent.look({ full: true });
  await stage.page.evaluate((kinds) => {
    for (const kind of kinds) window.frames[0]?.postMessage(kind, '*');
  }, put);
  for (const kind of put) await expect.poll(look, { message: kind }).toContain(`Words bank ${kind}`);
  await stage.relay.tabrelay('permit', 'set', bank, 'off');
  const told = await look();
  expect(told).toContain('Words forum');
  expect(told).not.toContain('Words bank');
});

test('what a site that is off puts in place of a page of another site is closed as well', async ({
  sharedStage: stage,
  closing,
}) => {
  const shop = await openSite(closing, { page: '<!doctype html><p>Words shop' });
  const ways = ['assigned', 'attribute'] as const;
  const bank = await openSite(closing, {
    page: `<!doctype html><p>Words bank itself</p>${ways
      .map((way) => `<iframe name="${way}" title="${way}" src="${shop}/page"></iframe>`)
      .join('')}<script>
addEventListener('message', ({ data: way }) => {
  const address = 'data:text/html,' + encodeURIComponent('<!doctype html><p>Words bank by ' + way + '</p>');
  if (way === 'attribute') document.querySelector('iframe[name=attribute]').src = address;
  else window.frames[way].location = address;
});
</script>`,
  });
  const forum = await openSite(closing, {
    page: `<!doctype html><p>Words forum</p><iframe name="maker" src="${bank}/page"></iframe>`,
  });
  await visit(stage, `${forum}/page`);
  const agent = new Acting(stage.agent);
  const look = () => agent.look({ full: true });
  await expect.poll(look, { message: 'the shop is there' }).toContain('Words shop');
  await stage.page.evaluate((kinds) => {
    for (const kind of kinds) window.frames[0]?.postMessage(kind, '*');
  }, ways);
  for (const way of ways) await expect.poll(look, { message: way }).toContain(`Words bank by ${way}`);
  await stage.relay.tabrelay('permit', 'set', bank, 'off');
  const told = await look();
  expect(told).toContain('Words forum');
  expect(told).not.toContain('Words bank');
});
