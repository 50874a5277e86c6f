// What a person is asked about an act of the browser's tools, and that what they allowed is what is done: the page, the
// relay, the terminal and the client of an agent, as they are.
import { z } from 'zod';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { askedAgent, picks } from '../stage/asked-agent.ts';
import { expect, openStage, type Stage, type StageOptions, test, visit } from '../stage/test.ts';

const Pending = z.object({
  approvals: z.array(
    z.looseObject({
      id: z.string(),
      sentence: z.string(),
      lead: z.string().optional(),
      deeds: z.array(z.string()).optional(),
      elsewhere: z.string().optional(),
      choices: z.array(z.string()),
    }),
  ),
});

/** The one question that waits, once it does. */
async function question({ relay }: Stage) {
  const pending = async () =>
    Pending.parse(JSON.parse(await relay.tabrelay('permit', 'pending', '--json'))).approvals;
  await expect.poll(async () => (await pending()).length, { message: 'a question waits' }).toBe(1);
  const [only] = await pending();
  if (only === undefined) throw new Error('there is no question');
  return only;
}

const looking = { browser__snapshot: 'auto', browser__find: 'auto' };

const asking = (config: StageOptions['config'] = {}): StageOptions => ({
  guarded: true,
  config: { permissions: looking, ...config },
});

// For all but those that read the audit log, or are about a relay that is set up otherwise.
test.use({ groundOptions: asking() });

const bank = `<!doctype html><title>Acme Bank</title><h1>Pay</h1>
  <form id="form" action="/pay" method="post"><label>Amount <input id="amount" name="amount"></label>
    <label>To <input id="to" name="to"></label>
    <label>Delivery <select id="delivery"><option>Standard<option>Express</select></label>
    <label><input type="checkbox" id="news"> Newsletter</label>
    <label>Password <input type="password" id="password"></label>
    <label>Attachment <input type="file" id="file"></label>
    <button id="pay">Pay now</button></form>
  <button id="cancel" aria-label="Cancel">Delete my account</button>
  <ul><li draggable="true" id="a">card A</li><li draggable="true" id="b">card B</li></ul>
  <button id="draft">Save draft</button><button id="like">Like (3)</button>
  <script>
    window.pressed = [];
    addEventListener('submit', (event) => { event.preventDefault(); pressed.push('submit ' + event.target.action); });
    for (const one of document.querySelectorAll('button[id]:not(#pay)'))
      one.onclick = () => pressed.push(one.textContent);
  </script>`;

test('a question says what will be done to what', async ({ closing }) => {
  const stage = await openStage(closing, asking());
  const site = await openSite(closing, { bank });
  await visit(stage, `${site}/bank`);
  const agent = new Acting(stage.agent);
  const ref = (words: string) => agent.ref(words);
  const host = new URL(site).origin;
  const asks = async (tool: string, args: Record<string, unknown>, deeds: string[]) => {
    const call = stage.agent.call(`browser__${tool}`, args);
    const asked = await question(stage);
    expect(asked.deeds).toEqual(deeds);
    expect(asked.sentence).toContain(deeds[0]);
    expect(asked.sentence).not.toMatch(/\be\d+\b/);
    const shown = (await stage.relay.tabrelay('permit', 'pending')).replaceAll(/\s+/g, ' ');
    for (const one of deeds) expect(shown).toContain(one);
    await stage.relay.person('permit', 'deny', asked.id);
    expect((await call).text).toContain('APPROVAL_DENIED');
    return asked;
  };
  const [pay, amount, to] = [
    await ref('button "Pay now"'),
    await ref('textbox "Amount"'),
    await ref('textbox "To"'),
  ];
  const sends = `which sends its form to ${host}/pay`;
  const standard = 'The form holds "Delivery": "Standard"';
  await asks('click', { ref: pay }, [`Click button "Pay now", ${sends}. ${standard}`]);
  await asks('click', { ref: await ref('button "Cancel"') }, [
    'Click the button that shows "Delete my account" (its label says "Cancel")',
  ]);
  await asks('fill', { fields: [{ ref: amount, value: 500 }] }, ['Fill in "Amount": 500']);
  await asks('press', { ref: to, keys: 'Enter' }, [`Press Enter in text field "To", ${sends}. ${standard}`]);
  await stage.page.focus('#to');
  await asks('press', { keys: 'Enter' }, [`Press Enter in text field "To", ${sends}. ${standard}`]);
  const [a, b] = [await ref('listitem "card A"'), await ref('listitem "card B"')];
  await asks('pointer', { action: 'drag', ref: a, to: b, at: 'after' }, [
    'Drag list item "card A" after list item "card B"',
  ]);
  const upload = { ref: await ref('file "Attachment"'), files: [{ name: 'cv.pdf', text: 'x' }] };
  await asks('upload', upload, ['Upload cv.pdf to "Attachment"']);
  const several = {
    steps: [
      { tool: 'fill', fields: [{ ref: await ref('combobox "Delivery"'), value: 'Express' }] },
      { tool: 'fill', fields: [{ ref: await ref('checkbox "Newsletter"'), value: true }] },
      { tool: 'click', ref: pay, dialogs: 'accept' },
      { tool: 'click', ref: 'button "Confirm"' },
    ],
  };
  await asks('act', several, [
    'Choose "Express" in drop-down list "Delivery"',
    'Check checkbox "Newsletter"',
    `Click button "Pay now", ${sends}, and say yes to what the page asks then`,
    `Click what the agent calls "button 'Confirm'", which is not in the page yet`,
  ]);
  const secret = await asks(
    'fill',
    { fields: [{ ref: await ref('password "Password"'), value: 'hunter2-secret' }] },
    ['Fill in "Password": ••••'],
  );
  expect(secret.choices).toEqual(['once']);
  expect(JSON.stringify(secret)).not.toContain('hunter2');

  const rows = await stage.relay.tabrelay('audit', '--json');
  expect(rows).toContain('Click button \\"Pay now\\"');
  expect(rows).toContain('Click the button that shows \\"Delete my account\\" (its label says \\"Cancel\\")');
  expect(rows).not.toContain('hunter2');
});

test('nothing that cannot be done is asked about', async ({ sharedStage: stage, closing }) => {
  const site = await openSite(closing, { bank });
  await visit(stage, `${site}/bank`);
  const agent = new Acting(stage.agent);
  const ref = await agent.ref('button "Save draft"');
  await stage.page.evaluate(() => document.querySelector('#draft')?.remove());
  expect(await agent.failure('click', { ref })).toMatchObject({ code: 'REF_GONE', outcome: 'not_executed' });
  expect(await agent.failure('click', { ref: 'button "Nowhere"' })).toMatchObject({
    outcome: 'not_executed',
  });
});

test('a page that may not be read says nothing of itself before its person is asked', async ({ closing }) => {
  const stage = await openStage(closing, { guarded: true });
  const site = await openSite(closing, { bank });
  await visit(stage, `${site}/bank`);
  const agent = new Acting(stage.agent);
  const fields = [{ ref: 'combobox "Delivery"', value: 'Slow' }];
  const failures = [
    await agent.failure('click', { ref: 'button "Save drft"' }),
    await agent.failure('fill', { fields }),
    await agent.failure('act', { steps: [{ tool: 'fill', fields }] }),
  ];
  for (const failure of failures) {
    expect(failure).toMatchObject({ code: 'VALIDATION_ERROR', outcome: 'not_executed' });
    expect(failure.text).toContain('browser__snapshot');
    expect(JSON.stringify(failure)).not.toMatch(/draft|Express|Standard|Amount/);
  }
});

const changes: [what: string, script: string, code: string | undefined][] = [
  ['is called otherwise', "draft.textContent = 'Delete my account'", 'TARGET_CHANGED'],
  [
    'shows something else under its name',
    "draft.ariaLabel = 'Save draft'; draft.textContent = 'Delete all'",
    'TARGET_CHANGED',
  ],
  ['is of another form', "draft.setAttribute('form', 'form')", 'TARGET_CHANGED'],
  ['is another kind of thing', "draft.setAttribute('role', 'switch')", 'TARGET_CHANGED'],
  ['is replaced', 'draft.outerHTML = draft.outerHTML', 'REF_GONE'],
  ['gets a dot behind it', "draft.textContent = ' Save  draft… '", undefined],
];

for (const [what, script, code] of changes)
  test(`what was allowed is not done where the target ${what}: ${code ?? 'it is done'}`, async ({
    sharedStage: stage,
    closing,
  }) => {
    const site = await openSite(closing, { bank });
    await visit(stage, `${site}/bank`);
    const agent = new Acting(stage.agent);
    const call = stage.agent.call('browser__click', { ref: await agent.ref('button "Save draft"') });
    const asked = await question(stage);
    await stage.page.evaluate(script);
    await stage.relay.person('permit', 'allow', asked.id);
    const answer = await call;
    expect(answer.failed, answer.text).toBe(code !== undefined);
    if (code !== undefined)
      expect({ code: answer.code, ...answer.facts }).toMatchObject({ code, outcome: 'not_executed' });
    expect(await stage.page.evaluate('pressed.length')).toBe(code === undefined ? 1 : 0);
  });

test('a form that is sent elsewhere, and a counter, while the question is open', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { bank });
  await visit(stage, `${site}/bank`);
  const agent = new Acting(stage.agent);
  const allowed = async (words: string, script: string) => {
    const call = stage.agent.call('browser__click', { ref: await agent.ref(words) });
    const asked = await question(stage);
    await stage.page.evaluate(script);
    await stage.relay.person('permit', 'allow', asked.id);
    return call;
  };
  expect((await allowed('button "Like (3)"', "like.textContent = 'Like (4)'")).failed).toBe(false);
  const paid = await allowed('button "Pay now"', "form.action = 'https://evil.example/pay'");
  expect(paid.code).toBe('TARGET_CHANGED');
  expect(paid.text).toContain('https://evil.example/pay');
  expect(await stage.page.evaluate('pressed')).toEqual(['Like (4)']);
});

const transfer = `<!doctype html><title>Transfer</title>
  <form id="form" action="https://pay.example/collect" method="post" onsubmit="sent(event)">
    <label>Amount <input id="amount" value="50"></label><label>To <input id="to" value="Ada Lovelace"></label>
    <label>PIN <input id="pin" type="password" value="hunter2-secret"></label>
    <input type="hidden" name="csrf" value="4711"><label><input type="checkbox" checked>Remember</label>
    <label style="position:absolute;left:-9999px">Card number <input id="card"></label>
    <label>Comment <input id="comment"></label><button>Send</button></form>
  <button onclick="this.textContent = 'Sure?'">Delete the account</button>
  <script>window.pressed = []; function sent(event) { event.preventDefault(); pressed.push(amount.value); }</script>`;

test('what a form holds, and that it goes to another site, is said before it is sent', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { transfer });
  await visit(stage, `${site}/transfer`);
  const agent = new Acting(stage.agent);
  const host = new URL(site).origin;
  const asks = async (tool: string, args: Record<string, unknown>, expected: Record<string, unknown>) => {
    const call = stage.agent.call(`browser__${tool}`, args);
    const asked = await question(stage);
    expect(asked).toMatchObject(expected);
    const shown = (await stage.relay.tabrelay('permit', 'pending')).replaceAll(/\s+/g, ' ');
    if (asked.elsewhere !== undefined) expect(shown).toContain(`! ${asked.elsewhere}`);
    expect(shown + JSON.stringify(asked)).not.toContain('hunter2');
    await stage.relay.person('permit', 'deny', asked.id);
    expect((await call).text).toContain('APPROVAL_DENIED');
  };
  const elsewhere = 'Sends to another site: pay.example, with a password';
  const sends = 'which sends its form to another site, pay.example/collect';
  const [amount, to] = [await agent.ref('textbox "Amount"'), await agent.ref('textbox "To"')];
  const rest = '"To": "Ada Lovelace", "PIN": ••••, "Remember" (checked)';
  await asks(
    'press',
    { ref: to, keys: 'Enter' },
    {
      deeds: [`Press Enter in text field "To", ${sends}. The form holds "Amount": 50, ${rest}`],
      elsewhere,
      effects: ['Sends to another site', 'Uses a password'],
    },
  );
  await asks(
    'fill',
    { fields: [{ ref: amount, value: 500 }], submit: true },
    {
      deeds: [`Fill in "Amount": 500, then press Enter, ${sends}. The form also holds ${rest}`],
      elsewhere,
    },
  );
  await stage.page.fill('#card', '4111');
  const steps = [
    { tool: 'fill', fields: [{ ref: to, value: 'Bob' }] },
    { tool: 'click', ref: await agent.ref('button "Send"') },
  ];
  await asks(
    'act',
    { steps },
    {
      deeds: [
        'Fill in "To": "Bob"',
        `Click button "Send", ${sends}. The form also holds "Amount": 50, "PIN": ••••, "Remember" (checked), ` +
          '"Card number": •••• (not visible on the page)',
      ],
      elsewhere: `${elsewhere} and payment details`,
      effects: ['Sends to another site', 'Uses a password', 'Uses payment details'],
    },
  );
  await asks(
    'click',
    { ref: await agent.ref('button "Delete the account"') },
    {
      deeds: ['Click button "Delete the account"'],
      effects: ['May delete something'],
    },
  );
  expect(host).not.toContain('pay.example');
});

const filledIn: [what: string, script: string, said: string | undefined][] = [
  ['another amount', "amount.value = '5000'", '"Amount" holds something else now'],
  [
    'a card, as autofill does',
    "card.value = '4111 1111 1111 1111'",
    '"Card number" holds something else now',
  ],
  ['nothing else', "document.title = 'Transfer (1)'", undefined],
];

for (const [what, script, said] of filledIn)
  test(`a form that was allowed to be sent, and that holds ${what} by then`, async ({
    sharedStage: stage,
    closing,
  }) => {
    const site = await openSite(closing, { transfer });
    await visit(stage, `${site}/transfer`);
    const agent = new Acting(stage.agent);
    const steps = [
      { tool: 'fill', fields: [{ ref: await agent.ref('textbox "Comment"'), value: 'rent' }] },
      { tool: 'click', ref: await agent.ref('button "Send"') },
    ];
    const call = stage.agent.call('browser__act', { steps });
    const asked = await question(stage);
    await stage.page.evaluate(script);
    await stage.relay.person('permit', 'allow', asked.id);
    const answer = await call;
    expect(answer.code, answer.text).toBe(said === undefined ? undefined : 'TARGET_CHANGED');
    if (said !== undefined) expect(answer.text).toContain(said);
    expect(answer.text).not.toContain('4111 1111');
    expect(await stage.page.evaluate('pressed')).toEqual(said === undefined ? ['50'] : []);
  });

const long = `<!doctype html><title>Letter</title><form onsubmit="event.preventDefault(); sent = true">
  <label>Letter <textarea id="letter">${'word '.repeat(40)}end</textarea></label>
  ${Array.from({ length: 10 }, (_, n) => `<label>Line ${n} <input id="line${n}" value="value ${n}"></label>`).join('')}
  <button>Send</button></form><script>window.sent = false</script>`;

test('what a form holds beyond what a question has room for is held to, too', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { long });
  const agent = new Acting(stage.agent);
  const answered = async (change: string) => {
    await visit(stage, `${site}/long`);
    const call = stage.agent.call('browser__click', { ref: await agent.ref('button "Send"') });
    const { id } = await question(stage);
    await stage.page.evaluate(change);
    await stage.relay.person('permit', 'allow', id);
    return { answer: await call, sent: await stage.page.evaluate('sent') };
  };
  for (const change of ["letter.value = letter.value.replace('end', 'END')", "line9.value = 'another'"]) {
    const { answer, sent } = await answered(change);
    expect(answer.code, answer.text).toBe('TARGET_CHANGED');
    expect(sent).toBe(false);
  }
  const { answer, sent } = await answered('0');
  expect(answer.failed, answer.text).toBe(false);
  expect(sent).toBe(true);
});

test('words of the agent hold to what the person was shown, too', async ({ sharedStage: stage, closing }) => {
  const site = await openSite(closing, { bank });
  await visit(stage, `${site}/bank`);
  const call = stage.agent.call('browser__click', { ref: 'button "Save draft"' });
  const asked = await question(stage);
  expect(asked.deeds).toEqual(['Click button "Save draft"']);
  await stage.page.evaluate("draft.ariaLabel = 'Save draft'; draft.textContent = 'Delete my account'");
  await stage.relay.person('permit', 'allow', asked.id);
  const answer = await call;
  expect(answer.code, answer.text).toBe('TARGET_CHANGED');
  expect(answer.text).toContain('when the person was asked');
  expect(await stage.page.evaluate('pressed')).toEqual([]);
});

test('a later step is done only to what was allowed, and what was told', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { bank });
  await visit(stage, `${site}/bank`);
  const agent = new Acting(stage.agent);
  const steps = async () => [
    { tool: 'click', ref: await agent.ref('button "Save draft"') },
    { tool: 'click', ref: await agent.ref('button "Like (3)"') },
  ];
  await stage.page.evaluate(
    "draft.onclick = () => { pressed.push('draft'); like.textContent = 'Send all'; }",
  );
  const call = stage.agent.call('browser__act', { steps: await steps() });
  await stage.relay.person('permit', 'allow', (await question(stage)).id);
  const answer = await call;
  expect(answer.code).toBe('TARGET_CHANGED');
  expect(answer.text).toContain('Step 2 of 2 (click) failed, after the steps before it were done');
  expect(await stage.page.evaluate('pressed')).toEqual(['draft']);
});

test('without a question an act is done only to what the agent was told', async ({ closing }) => {
  const stage = await openStage(closing);
  const site = await openSite(closing, { bank });
  await visit(stage, `${site}/bank`);
  const agent = new Acting(stage.agent);
  const ref = await agent.ref('button "Save draft"');
  await stage.page.evaluate("draft.textContent = 'Delete my account'");
  const failure = await agent.failure('click', { ref });
  expect(failure).toMatchObject({ code: 'TARGET_CHANGED', outcome: 'not_executed' });
  expect(failure.text).toContain('was told as button "Save draft" is button "Delete my account" now');
  expect(await stage.page.evaluate('pressed')).toEqual([]);
  await agent.look({ full: true });
  const done = await agent.do('click', { ref });
  expect(done).toMatchObject({ on: `button "Delete my account" [${ref}]` });
  const cancel = await agent.do('click', { ref: await agent.ref('button "Cancel"') });
  expect(cancel).toMatchObject({
    on: expect.stringMatching(/^button \[e\d+\] that shows "Delete my account" \(its label says "Cancel"\)$/),
  });
  const steps = [
    { tool: 'click', ref: await agent.ref('button "Cancel"') },
    { tool: 'click', ref: 'e999' },
    { tool: 'press', keys: 'Enter' },
  ];
  expect((await agent.failure('act', { steps })).text).toContain('Step 2 of 3');
  const rows = await stage.relay.tabrelay('audit', '--json');
  expect(rows).toContain('that shows \\"Delete my account\\" (its label says \\"Cancel\\")');
  expect(rows).toContain('1. click: done to what the page calls button [');
  expect(rows).toContain('; 2. click: failed; 3. press: not tried. Step 2 of 3');
});

test('a thing that is called otherwise under the pointer is not pressed without a question either', async ({
  closing,
}) => {
  const stage = await openStage(closing);
  const site = await openSite(closing, {
    follow: `<!doctype html><title>Follow</title><script>const pressed = []</script>
<button onmouseenter="textContent = 'Unfollow'" onclick="pressed.push(textContent)">Following</button>
<button title="Print" onmouseenter="removeAttribute('title')" onclick="pressed.push('print')"><svg></svg></button>`,
  });
  await visit(stage, `${site}/follow`);
  const agent = new Acting(stage.agent);
  const failure = await agent.failure('click', { ref: await agent.ref('button "Following"') });
  expect(failure).toMatchObject({ code: 'TARGET_CHANGED', outcome: 'not_executed' });
  expect(failure.text).toContain(
    'was told as button "Following" is button "Unfollow" now; it was not pressed',
  );
  expect(await stage.page.evaluate('pressed')).toEqual([]);
  expect(await agent.click('button "Unfollow"')).toMatchObject({ outcome: 'executed' });
  expect(await agent.click('button "Print"')).toMatchObject({ outcome: 'executed' });
  expect(await stage.page.evaluate('pressed')).toEqual(['Unfollow', 'print']);
});

test('a client that asks its person shows the same, and a missed question is for the same target', async ({
  closing,
}) => {
  const stage = await openStage(closing, asking({ approvals: { timeoutMs: 2000 } }));
  const site = await openSite(closing, { bank });
  await visit(stage, `${site}/bank`);
  const heard: string[] = [];
  const agent = new Acting(
    await askedAgent(stage.relay, closing, (message) => {
      heard.push(message);
      return heard.length === 1 ? picks('Allow once') : { action: 'cancel' };
    }),
  );
  const ref = await agent.ref('button "Save draft"');
  expect((await agent.do('click', { ref })).outcome).toBe('executed');
  expect(heard[0]).toContain('Click button "Save draft"');

  expect((await agent.failure('click', { ref })).code).toBe('APPROVAL_TIMEOUT');
  const Missed = z.object({ missed: z.array(z.looseObject({ id: z.string(), sentence: z.string() })) });
  const { missed } = Missed.parse(JSON.parse(await stage.relay.tabrelay('permit', 'pending', '--json')));
  expect(missed[0]?.sentence).toContain('Click button "Save draft"');
  await stage.relay.person('permit', 'allow', missed[0]?.id ?? '');
  await stage.page.evaluate("draft.textContent = 'Delete my account'");
  expect((await agent.failure('click', { ref })).code, 'the agent knows nothing of it').toBe(
    'TARGET_CHANGED',
  );
  await agent.look({ full: true });
  expect((await agent.failure('click', { ref })).code, 'it is asked about anew').toBe('APPROVAL_TIMEOUT');
  expect(heard.at(-1)).toContain('Click button "Delete my account"');
  await stage.page.evaluate("draft.textContent = 'Save draft'");
  await agent.look({ full: true });
  expect((await agent.do('click', { ref })).outcome, 'which was allowed').toBe('executed');
});

test('what is allowed for the session needs no question, and holds to what was told', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { bank });
  await visit(stage, `${site}/bank`);
  const agent = new Acting(stage.agent);
  const ref = await agent.ref('button "Save draft"');
  const call = stage.agent.call('browser__click', { ref });
  await stage.relay.person('permit', 'allow', (await question(stage)).id, '--for', 'session');
  expect((await call).failed).toBe(false);
  expect((await agent.do('click', { ref })).outcome).toBe('executed');
  await stage.page.evaluate("draft.textContent = 'Delete my account'");
  expect((await agent.failure('click', { ref })).code).toBe('TARGET_CHANGED');
});

test('a frame is named, and one that shows another document gets nothing', async ({
  sharedStage: stage,
  closing,
}) => {
  const inner = await openSite(closing, { bank });
  const site = await openSite(closing, {
    forum: `<!doctype html><title>Forum</title><iframe id="f" src="${inner}/bank" width="600" height="600"></iframe>`,
  });
  await visit(stage, `${site}/forum`);
  const agent = new Acting(stage.agent);
  const ref = await agent.ref('button "Save draft"');
  const call = stage.agent.call('browser__click', { ref });
  const asked = await question(stage);
  expect(asked.sentence).toContain(`in ${inner}, a frame of ${site}: Click button "Save draft"`);
  await stage.page.evaluate("f.src = f.src + '?again'");
  await expect.poll(() => stage.page.frames()[1]?.url()).toContain('again');
  await stage.relay.person('permit', 'allow', asked.id);
  const answer = await call;
  expect(answer.failed, answer.text).toBe(true);
  expect(answer.facts.outcome).toBe('not_executed');
});
