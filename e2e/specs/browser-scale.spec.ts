// Pages far larger, deeper and busier than pages are: a look ends in time, keeps to its budget, says truly what it left
// out, and leaves nothing behind in memory.
import alone from '@playwright/test';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { pageCode } from '../stage/page-code.ts';
import { expect, test, visit } from '../stage/test.ts';
import { tokens } from '../stage/tokens.ts';

const code = () =>
  pageCode(
    `import { look } from './looking.ts';
   import { page } from './act/document.ts';
   const request = { from: 0, characters: 5200, full: false, viewer: 'test' };
   globalThis.look = () => look(document, '', request).kind;
   globalThis.act = (change) => { const mark = page.mark(); change(); return page.changesSince(mark).length; };`,
  );

alone('two hundred looks at a page that draws itself anew keep nothing of it', async ({ page, context }) => {
  const session = await context.newCDPSession(page);
  await page.setContent('<!doctype html><title>Anew</title><main></main>');
  await page.addScriptTag({ content: await code() });
  const memory = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  const looks = (from: number, to: number) =>
    page.evaluate(
      async ([first, last]) => {
        const main = document.querySelector('main');
        const anew = (n: number) => {
          const row = (i: number) =>
            `<p>Row ${i} of ${n} <a href="/${i}">More ${i}</a> <button>Take ${i}</button></p>`;
          if (main) main.innerHTML = Array.from({ length: 300 }, (_, i) => row(i)).join('');
        };
        for (let n = first; n < last; n++) {
          Reflect.get(globalThis, 'act')(() => anew(n));
          Reflect.get(globalThis, 'look')();
          await new Promise((resolve) => setTimeout(resolve)); // weak references hold until then
        }
      },
      [from, to] as const,
    );
  await looks(0, 60);
  const before = await memory();
  await looks(60, 260);
  expect((await memory()) - before).toBeLessThan(4 << 20);
});

test('of 250,000 elements as much is told as there is room for, and how to go on', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, {
    large: `<!doctype html><title>Large</title><h1>Large</h1><main></main><script>
      document.querySelector('main').innerHTML = Array.from({ length: 50_000 }, (_, n) =>
        '<div><b>Row ' + n + '</b> <i>of many</i> <a href="/' + n + '">Open</a><u>x</u></div>').join('');
    </script>`,
  });
  await visit(stage, `${site}/large`);
  const agent = new Acting(stage.agent);
  const first = await agent.look();
  expect(first.length).toBeLessThan(6000);
  const [, left, from] = /\n… (\d+) more lines: from (\d+)$/.exec(first) ?? [];
  expect(Number(left) + Number(from)).toBe(50_002); // a heading, main and the rows
  const next = await agent.look({ from: Number(from) });
  expect(next.split('\n')[1]).toContain(`"Row ${Number(from) - 2} of many" link "Open"`);
  expect(await agent.look()).toBe('unchanged');
});

test('ten million characters are told as far as there is room', async ({ sharedStage: stage, closing }) => {
  const site = await openSite(closing, {
    one: `<!doctype html><title>One</title><p>${'all of it is one text, '.repeat(450_000)}</p><button>Behind</button>`,
    many: `<!doctype html><title>Many</title>${`<p>${'many texts, '.repeat(90)}</p>`.repeat(10_000)}`,
  });
  const agent = new Acting(stage.agent);
  await visit(stage, `${site}/one`);
  const one = await agent.look();
  expect(one.length).toBeLessThan(1000);
  expect(one).toMatch(/one text, all…"\nbutton "Behind"|…"\nbutton "Behind"/);
  await visit(stage, `${site}/many`);
  const many = await agent.look();
  expect(tokens(many)).toBeLessThan(2200);
  expect(many).toMatch(/\n… 99\d\d more lines: from \d+$/);
});

test('what is nested more deeply than can be told at once has a reference', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, {
    deep: `<!doctype html><title>Deep</title><h1>Deep</h1><main></main><p>behind it</p><script>
      let at = document.querySelector('main');
      for (let n = 0; n < 800; n++) at = at.appendChild(document.createElement(n % 50 ? 'div' : 'section'));
      at.innerHTML = '<button onclick="this.textContent = \\'Pressed\\'">Press</button>';
    </script>`,
  });
  await visit(stage, `${site}/deep`);
  const agent = new Acting(stage.agent);
  let page = await agent.look();
  expect(page).toContain('"behind it"');
  for (let n = 0; n < 10 && !page.includes('button'); n++) {
    const ref = /… more, nested very deeply \[(e\d+)\]/.exec(page)?.[1];
    page = await agent.look({ ref });
  }
  const ref = /button "Press" \[(e\d+)\]/.exec(page)?.[1];
  expect((await stage.agent.call('browser__find', { text: 'press' })).text).toBe(`button "Press" [${ref}]`);
  expect((await agent.do('click', { ref })).outcome).toBe('executed');
  expect((await stage.agent.call('browser__find', { text: 'pressed' })).text).toBe(
    `button "Pressed" [${ref}] focused`,
  );
});
