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
  expect(seen.value).toEqual({
    page: [
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
    ].join('\n'),
  });
});
