// An agent looks at pages that no plugin was written for: a line for each thing, and references to act on.

import { z } from 'zod';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { stdioAgent } from '../stage/agent.ts';
import { expect, test, visit } from '../stage/test.ts';
import { tokens } from '../stage/tokens.ts';

const Image = z.tuple([z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() })]);

const order = `<!doctype html><title>Order</title>
<main><h1>Orders</h1><p>By <a href="/ada">Ada</a> on <b>Monday</b>. [e12] button "Pay" [e3]</p>
<form aria-label="Order"><label>Email <input name="email" value="ada@leaf.example"></label>
<label for="pw">Password</label><input id="pw" type="password" value="never-told">
<label><input type="checkbox" checked> I agree</label>
<select aria-label="Country"><option>Austria</option><option selected>Belgium</option></select>
<button>Save</button><button class="icon-trash"><svg width="16" height="16"></svg></button></form>
<div id="host"></div></main>
<script>
  host.attachShadow({ mode: 'closed' }).innerHTML = '<button>In a closed root</button>';
</script>`;

test('a page is told by roles and names, with references on what can be acted on', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { order });
  await visit(stage, `${site}/order`);
  const seen = await stage.agent.call('browser__snapshot');
  expect(seen.text.split('\n')).toEqual([
    `page "Order" ${site}/order`,
    'main',
    ' h1 "Orders"',
    ' "By" link "Ada" [e1] "on Monday. \\[e12] button \\"Pay\\" \\[e3]"',
    ' form "Order"',
    '  textbox "Email" [e2] = "ada@leaf.example"',
    '  password "Password" [e3] = •••',
    '  checkbox "I agree" [e4] checked',
    '  combobox "Country" [e5] = "Belgium" or "Austria"',
    '  button "Save" [e6]',
    '  button "trash" [e7]',
    ' button "In a closed root" [e8]',
  ]);
});

const rows = Array.from({ length: 30 }, (_, i) => `<tr><td>Row ${i}</td><td id="v${i}">${i}</td></tr>`);
const table = `<!doctype html><title>Table</title><table><tr><th>Name</th><th>Value</th></tr>${rows.join('')}</table>
<button id="gone" onclick="this.remove()">Go</button>`;

test('a second look tells what changed, and nothing else', async ({ sharedStage: stage, closing }) => {
  const { agent } = stage;
  const site = await openSite(closing, { table });
  await visit(stage, `${site}/table`);
  const { page } = stage;
  expect((await agent.call('browser__snapshot')).text).toContain('row: "Row 7" | "7"');
  expect((await agent.call('browser__snapshot')).text).toBe('unchanged');
  await page.locator('#v7').evaluate((cell) => {
    cell.textContent = 'seven';
  });
  expect((await agent.call('browser__snapshot')).text).toBe('changed:\n~ row: "Row 7" | "seven"');
  await page.locator('#gone').click();
  expect((await agent.call('browser__snapshot')).text).toBe('changed:\n- button "Go" [e1]');
  expect((await agent.call('browser__snapshot', { full: true })).text).toContain('row: "Row 7" | "seven"');
});

test('frames of any origin stand where the page shows them, frames within frames too', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent } = stage;
  const pay = '<!doctype html><title>Pay</title><button>Pay now</button>';
  const bank = await openSite(closing, { pay });
  const shop = await openSite(closing, {
    shop: `<!doctype html><title>Shop</title><p>before</p><iframe title="Bank" src="${bank}/pay"></iframe>
<iframe title="Written" srcdoc="<p>in srcdoc</p><iframe src='${bank}/pay'></iframe>"></iframe>
<iframe title="Sandboxed" sandbox src="${bank}/pay"></iframe>
<iframe title="Blank"></iframe><iframe hidden title="Hidden" src="${bank}/pay"></iframe><p>after</p>
<div id="host"></div>
<script>
  frames[2 + 1].document.body.innerHTML = '<div contenteditable aria-label="Text">words</div>';
  host.attachShadow({ mode: 'open' }).innerHTML = '<iframe title="In a shadow" src="${bank}/pay"></iframe>';
</script>`,
  });
  await visit(stage, `${shop}/shop`);
  expect((await agent.call('browser__snapshot')).text.split('\n').slice(1)).toEqual([
    '"before"',
    'frame "Bank" [e1]',
    ' button "Pay now" [f1e1]',
    'frame "Written" [e2]',
    ' "in srcdoc"',
    ' frame [f2e1]',
    '  button "Pay now" [f3e1]',
    'frame "Sandboxed" [e3]',
    ' button "Pay now" [f4e1]',
    'frame "Blank" [e4]',
    ' textbox "Text" [f5e1] = "words"',
    '"after"',
    'frame "In a shadow" [e5]',
    ' button "Pay now" [f6e1]',
  ]);
  expect((await agent.call('browser__snapshot')).text).toBe('unchanged');
  expect((await agent.call('browser__snapshot', { ref: 'f4e1' })).text).toContain('button "Pay now" [f4e1]');
  expect((await agent.call('browser__snapshot', { ref: 'e1' })).text).toContain('button "Pay now" [f1e1]');
});

test('of more frames than are looked into, find and wait say so where it matters', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent } = stage;
  const frame = (n: number) => `<iframe width="90" height="30" srcdoc="<button>Item ${n}</button>"></iframe>`;
  const site = await openSite(closing, { many: Array.from({ length: 33 }, (_, n) => frame(n)).join('') });
  await visit(stage, `${site}/many`);
  const find = async (text: string) => (await agent.call('browser__find', { text })).text;
  expect(await find('Item 29')).toMatch(/^button "Item 29" \[f\d+e1\]$/);
  expect(await find('Item 31')).toBe('nothing found\n(frames that were not looked into: 3)');
  const gone = await agent.call('browser__wait', { gone: 'Item 31' });
  expect(gone.text).toContain('(frames that were not looked into: 3)');
  const look = await agent.call('browser__snapshot', { maxTokens: 20_000 });
  expect(look.text.match(/\(not looked into: ref e\d+\)/g)).toHaveLength(3);
});

test('references are never given twice, and a dead one says what became of it', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent } = stage;
  const list = `<!doctype html><title>List</title><ul id="list"><li><button>One</button></li></ul>
<iframe id="frame" src="/inner"></iframe>`;
  const site = await openSite(closing, { list, inner: '<button>Inside</button>' });
  await visit(stage, `${site}/list`);
  const { page } = stage;
  expect((await agent.call('browser__snapshot')).text).toContain('button "One" [e1]');
  await page.evaluate(() => {
    const list = document.querySelector('#list');
    if (list) list.innerHTML = '<li><button>One</button></li>';
  });
  const gone = await agent.call('browser__snapshot', { ref: 'e1' });
  expect(gone.code).toBe('REF_GONE');
  expect(gone.texts.join('\n')).toContain('Most likely it is now e3');
  await page.evaluate(() => document.querySelector('#frame')?.remove());
  expect((await agent.call('browser__snapshot', { ref: 'f1e1' })).code).toBe('FRAME_GONE');
  await page.reload();
  expect((await agent.call('browser__snapshot')).text).toContain('button "One" [e4]');
  for (const ref of ['e1', 'f1e1'])
    expect((await agent.call('browser__snapshot', { ref })).code, ref).toBe('DOCUMENT_CHANGED');
  for (const ref of ['e99', 'f7e1', 'button'])
    expect((await agent.call('browser__snapshot', { ref })).code, ref).toBe('VALIDATION_ERROR');
});

test('what is not on the screen is counted, and found with a reference', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent } = stage;
  const items = Array.from({ length: 500 }, (_, i) => `<li>Item ${i} <button>Buy ${i}</button></li>`);
  const inner = '<!doctype html><p>inner words</p>';
  const list = `<!doctype html><title>Long</title><ul>${items.join('')}</ul><iframe src="/inner"></iframe>`;
  const site = await openSite(closing, { list, inner });
  await visit(stage, `${site}/list`);
  const seen = (await agent.call('browser__snapshot')).text;
  expect(seen).toContain('button "Buy 0" [e1]');
  expect(seen).not.toContain('Buy 400');
  expect(seen).toMatch(/… 4\d\d more, not on the screen \[e\d+\]/);
  const found = (await agent.call('browser__find', { text: 'buy 400', role: 'button' })).text;
  expect(found).toMatch(/^button "Buy 400" \[e\d+\]$/);
  expect((await agent.call('browser__find', { text: 'INNER' })).text).toBe(`text [f1e1]: "inner words"`);
  expect((await agent.call('browser__find', { text: 'not there' })).text).toBe('nothing found');
  const all = /… \d+ more, not on the screen \[(e\d+)\]/.exec(seen)?.[1];
  const rest = await agent.call('browser__snapshot', { ref: all, maxTokens: 50_000 });
  expect(rest.text).toContain('"Item 499"');
});

test('a picture shows the page, one element, the whole; not what is secret, and not what is behind', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent, browser } = stage;
  const field =
    '<!doctype html><body style="margin:0;background:#fff"><input type="password" value="secret" style="';
  const style = 'position:fixed;left:10px;top:10px;width:100px;height:40px;background:#f00;border:0">';
  const site = await openSite(closing, {
    page: `${field}${style}<div id="d" style="position:absolute;left:200px;top:300px;width:64px;height:32px;
background:#0f0" onclick="1" title="Green"></div><div style="height:4000px"></div>
<iframe src="/frame" style="position:fixed;left:300px;top:0;width:200px;height:100px;border:0"></iframe>`,
    frame: field + style,
  });
  await visit(stage, `${site}/page`);
  await stage.page.bringToFront();
  const ref = /clickable "Green" \[(e\d+)\]/.exec((await agent.call('browser__snapshot')).text)?.[1];
  const take = async (args: Record<string, unknown> = {}) => {
    const { content } = await agent.client.callTool({ name: 'browser__screenshot', arguments: args });
    const [{ data, mimeType }] = Image.parse(content);
    return { data, mime: mimeType };
  };
  const pixels = async ({ data, mime }: { data: string; mime: string }, ...points: [number, number][]) =>
    stage.page.evaluate(
      async ([url, at]) => {
        const image = await createImageBitmap(await (await fetch(url)).blob());
        const canvas = new OffscreenCanvas(image.width, image.height);
        const pen = canvas.getContext('2d');
        pen?.drawImage(image, 0, 0);
        const colours = at.map(([x, y]) => Array.from(pen?.getImageData(x, y, 1, 1).data.slice(0, 3) ?? []));
        return { width: image.width, height: image.height, colours };
      },
      [`data:${mime};base64,${data}`, points] as const,
    );
  const whole = await take();
  expect(Buffer.from(whole.data, 'base64').length).toBeLessThan(200 * 1024);
  const seen = await pixels(whole, [60, 30], [360, 30], [230, 315]);
  expect(seen.colours[0], 'the secret field').toEqual([0, 0, 0]);
  expect(seen.colours[1], 'the one in the frame').toEqual([0, 0, 0]);
  expect(seen.colours[2]?.[1], 'the green element').toBeGreaterThan(240);
  expect(seen.width).toBeLessThanOrEqual(1280);
  expect(await pixels(await take({ ref }), [30, 15])).toMatchObject({ width: 64, height: 32 });
  const full = await pixels(await take({ full: true }));
  expect(full.height).toBeGreaterThan(2000);
  expect(await stage.page.evaluate(() => scrollY)).toBe(0);
  const other = await browser.newPage();
  await other.bringToFront();
  const behind = await agent.call('browser__screenshot');
  expect(behind.code).toBe('TAB_NOT_VISIBLE');
  await other.close();
});

test('a picture shows no other tab that comes to the front meanwhile', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent, browser } = stage;
  const site = await openSite(closing, {
    page: '<!doctype html><title>Long</title><div style="height:8000px">Long</div>',
  });
  await visit(stage, `${site}/page`);
  const other = await browser.newPage();
  await stage.page.bringToFront();
  const scrolled = stage.page.evaluate(
    () => new Promise<void>((resolve) => addEventListener('scroll', () => resolve(), { once: true })),
  );
  await agent.call('browser__find', { text: 'Long' }); // from now on the session works in this tab
  const taken = agent.call('browser__screenshot', { full: true });
  await scrolled;
  await other.bringToFront();
  expect((await taken).code).toBe('TAB_NOT_VISIBLE');
  await other.close();
});

test('a secret that moves while a picture is taken is black where it was, and on its way', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, {
    page: `<!doctype html><body style="margin:0;background:#fff"><input type="password" value="secret" style="
position:fixed;left:0;top:10px;width:60px;height:40px;background:#f00;border:0"><script>
const field = document.querySelector('input'), began = performance.now();
const move = () => {
  field.style.left = Math.min(1100, (performance.now() - began) / 20) + 'px';
  requestAnimationFrame(move);
};
move();</script>`,
  });
  await visit(stage, `${site}/page`);
  await stage.page.bringToFront();
  const { content } = await stage.agent.client.callTool({ name: 'browser__screenshot', arguments: {} });
  const [{ data, mimeType }] = Image.parse(content);
  const red = await stage.page.evaluate(async (url) => {
    const image = await createImageBitmap(await (await fetch(url)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext('2d');
    pen?.drawImage(image, 0, 0);
    const all = pen?.getImageData(0, 0, image.width, image.height).data ?? [];
    let found = 0;
    for (let at = 0; at < all.length; at += 4)
      if ((all[at] ?? 0) > 150 && (all[at + 1] ?? 0) < 100 && (all[at + 2] ?? 0) < 100) found++;
    return found;
  }, `data:${mimeType};base64,${data}`);
  expect(red, 'pixels of the field').toBe(0);
});

test('all of the tools together are few and short', async ({ sharedStage: stage, closing }) => {
  const agent = await stdioAgent(stage.relay, closing, ['--toolset', 'all']);
  const { tools } = await agent.client.listTools();
  const own = tools.filter(({ name }) => name.startsWith('browser__'));
  const texts = own.map(
    ({ name, description, inputSchema }) => name + description + JSON.stringify(inputSchema),
  );
  expect(own.length).toBeLessThanOrEqual(16);
  expect(tokens(texts.join('\n'))).toBeLessThanOrEqual(2000);
});

const namedOnly = `<button aria-label="Close the drawer" style="width: 20px; height: 20px"></button>
  <button aria-label='Say "hello"' style="width: 20px; height: 20px"></button>
  <input aria-label="Query" value="typed words">`;

test('wait and find know what a snapshot tells, and wait knows of no words that only a field holds', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { named: `<!doctype html><title>Named</title>${namedOnly}` });
  await visit(stage, `${site}/named`);
  const ask = (tool: string, args: object) => stage.agent.call(`browser__${tool}`, { ...args });
  for (const text of ['close the drawer', 'Say "hello"']) {
    expect((await ask('find', { text })).text).toMatch(/^button "/);
    expect((await ask('wait', { text, timeoutMs: 1000 })).text).toMatch(/ is there\nbutton "/);
  }
  expect((await ask('wait', { gone: 'Close the drawer', timeoutMs: 200 })).code).toBe('WAIT_TIMEOUT');
  expect((await ask('wait', { text: 'typed words', timeoutMs: 200 })).code).toBe('WAIT_TIMEOUT');
});

const posts = `<!doctype html><title>Posts</title><style>
  .actions { position: relative; left: -9999em } tr:hover .actions { left: 0 }
  .reader { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
</style><table><thead><tr><th>Title<th>Date</thead><tbody>
  <tr id="one"><td><b>First</b> <button class="reader">More</button><div class="actions"><a href="#e">Edit</a> |
    <button onclick="done.textContent = 'gone'">Trash</button></div><td>Monday
  <tr><td>Second<td>Tuesday</table><p id="done"></p>`;

test('a row says that a pointer over it shows more, and that can be used then', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { posts });
  await visit(stage, `${site}/posts`);
  const agent = new Acting(stage.agent);
  const page = await agent.look();
  const row = /row \[(e\d+)\]: "First" \| "Monday" \(2 more on hover\)/.exec(page)?.[1];
  expect(row, page).toBeDefined();
  expect(page).toContain('row: "Second" | "Tuesday"');
  const shown = await agent.do('pointer', { action: 'hover', ref: row });
  const trash = /button "Trash" \[(e\d+)\]/.exec(shown.changes ?? '')?.[1];
  expect((await agent.do('click', { ref: trash })).changes).toContain('+ "gone"');
});

test('what stands in a field for a secret is not told, however the field is named', async ({
  sharedStage,
  closing,
}) => {
  const fields = `<label>Wachtwoord <input value="zq1"></label><input name="cardNumber" value="zq2">
    <label>Access token <textarea>zq3</textarea></label><input style="-webkit-text-security: disc" value="zq4">
    <fieldset><legend>Verification code</legend><input maxlength="1" aria-label="Digit 1" value="zq5"></fieldset>
    <p id="host"></p><label>Promo code <input value="SPRING"></label><script>
    host.attachShadow({ mode: 'closed' }).innerHTML = '<label for="i">Card number</label><input id="i" value="zq6">';
    </script>`;
  const site = await openSite(closing, { fields });
  await visit(sharedStage, `${site}/fields`);
  const { agent } = sharedStage;
  const seen = (await agent.call('browser__snapshot')).text;
  expect(seen).toContain('textbox "Wachtwoord" [e1] = •••');
  expect(seen).toContain('= "SPRING"');
  expect(seen).not.toContain('zq');
  const forms = (await agent.call('browser__read', { what: 'forms' })).text;
  expect(forms).toContain('SPRING');
  expect(forms).not.toContain('zq');
});
