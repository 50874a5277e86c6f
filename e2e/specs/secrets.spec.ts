// Whatever looks at a page, what stands in its fields for secrets and what its scripts call credentials stays there.
import { z } from 'zod';
import { openSite } from '../sites/own-pages.ts';
import { expect, test, visit } from '../stage/test.ts';

test.use({ groundOptions: { plugins: { 'browser-dev': { enabled: true } } } });

const page = `<!doctype html><title>Account</title><form action="/save?access_token=QX7linkQX7">
  <label>One-time code <input autocomplete="one-time-code" value="QX7482913"></label>
  <label>API key <input name="key" value="QX7apikeyQX7"></label>
  <label>Recovery key <textarea>QX7recoveryQX7</textarea></label>
  <label>Card number <input name="number" value="QX7411111111"></label>
  <label>CVC <input name="cvc" value="QX7123" data-old="QX7123"></label>
  <label>Passwort <input type="password" value="QX7hunter"></label>
  <input type="hidden" name="csrf" value="QX7csrfQX7">
  <label>City <input name="city" value="Bern"></label><button>Save</button></form>
  <a href="/next?session_id=QX7sessionQX7&page=2">Next</a>
  <div data-state='{"user":"ada","token":"QX7stateQX7"}'>Ada</div>
  <button onclick="console.error('failed with password=QX7typed'); this.textContent = 'Tried'">Try</button>`;

const calls: [string, Record<string, unknown>][] = [
  ['snapshot', { full: true }],
  ['find', { text: 'key' }],
  ['read', { what: 'forms' }],
  ['read', { what: 'text' }],
  ['console', {}],
  ['network', {}],
  ['storage', { action: 'list' }],
  ['evaluate', { code: '({ token: "QX7answer", list: [\'{"password":"QX7inner"}\'], author: "Ada" })' }],
];

test('no way to look at a page tells what its fields for secrets hold', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { page, save: 'saved' });
  await visit(stage, `${site}/page`);
  const { agent } = stage;
  const told: string[] = [];
  for (const [tool, args] of calls.slice(4, 6)) await agent.call(`browser__${tool}`, args); // captured from here on
  const seen = await agent.call('browser__snapshot', { full: true });
  const button = /button "Try" \[(e\d+)\]/.exec(seen.text)?.[1];
  told.push(...(await agent.call('browser__click', { ref: button })).texts);
  await stage.page.evaluate(async () => {
    localStorage.setItem('profile', '{"name":"Ada","refresh_token":"QX7kept"}');
    console.log('login', 'password=QX7console', { token: 'QX7object' });
    console.warn('{"body":"{\\\\"secret\\\\":\\\\"QX7escaped\\\\"}"}', 'tokens used: 5', 'author: Ada');
    await fetch('/save', { method: 'POST', body: 'user=ada&pwd=QX7posted' });
  });
  for (const [tool, args] of calls) {
    const answer = await agent.call(`browser__${tool}`, args);
    expect(answer.failed, `${tool}: ${answer.text}`).toBe(false);
    told.push(...answer.texts);
  }
  const listed = (await agent.client.listResources()).resources.map(({ uri }) => uri);
  const id = z.string().parse(listed.map((uri) => /^tab:\/\/(\d+)\/text/.exec(uri)?.[1]).find(Boolean));
  for (const uri of [`tab://${id}/html`, `tab://${id}/text`, `console://${id}`])
    told.push(JSON.stringify((await agent.client.readResource({ uri })).contents));
  const all = told.join('\n');
  expect(all.match(/.{60}QX7.{20}/gs)).toBeNull();
  for (const kept of ['Bern', 'tokens used: 5', 'author: Ada', 'page=2', 'Tried'])
    expect(all).toContain(kept);
  // Nor does what is found say letter by letter what is left out.
  for (const contains of ['QX7', 'password=QX7'])
    expect((await agent.call('browser__console', { contains })).value).toMatchObject({ total: 0 });
});
