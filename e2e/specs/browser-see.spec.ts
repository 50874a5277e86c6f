// An agent looks at pages that no plugin was written for: a line for each thing, and references to act on.

import { openSite } from '../sites/own-pages.ts';
import { expect, test, visit } from '../stage/test.ts';

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
