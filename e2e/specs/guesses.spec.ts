// What an agent cannot find out or undo by trying: whether its guess of a secret is right, and that a refusal did nothing.
import { openSite } from '../sites/own-pages.ts';
import { expect, test, visit } from '../stage/test.ts';

const page = `<!doctype html><title>Guess</title>
  <label>Password <input type="password" value="hunter2"></label><label>City <input value="Bern"></label>`;

test('waiting for a value tells nothing of a field for a secret, and keeps no guess', async ({
  stage,
  closing,
}) => {
  const site = await openSite(closing, { page });
  await visit(stage, `${site}/page`);
  const { agent, relay } = stage;
  const seen = (await agent.call('browser__snapshot')).text;
  const refOf = (name: string) => new RegExp(`textbox "${name}" \\[(e\\d+)\\]`).exec(seen)?.[1] ?? name;
  const answers: string[] = [];
  for (const value of ['hunter2', 'hunter9']) {
    const answer = await agent.call('browser__wait', { ref: refOf('Password'), value, timeoutMs: 300 });
    expect(answer.code).toBe('VALIDATION_ERROR');
    expect(answer.facts.outcome).toBe('not_executed');
    answers.push(answer.text);
  }
  expect(answers[0]).toBe(answers[1]);
  expect((await agent.call('browser__wait', { ref: refOf('City'), value: 'Bern' })).failed).toBe(false);
  await expect.poll(() => relay.tabrelay('audit', '--json')).toContain('browser__wait');
  const audit = await relay.tabrelay('audit', '--json');
  expect(audit).toContain('[redacted]');
  expect(audit).not.toMatch(/hunter[29]/);
});

test('files for what takes none are refused before anything is done', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, { page });
  await visit(stage, `${site}/page`);
  const { agent } = stage;
  const ref = /textbox "City" \[(e\d+)\]/.exec((await agent.call('browser__snapshot')).text)?.[1];
  const refused = await agent.call('browser__upload', { ref, files: [{ name: 'a.txt', text: 'a' }] });
  expect(refused.code).toBe('VALIDATION_ERROR');
  expect(refused.facts.outcome).toBe('not_executed');
  expect(refused.text).toContain('nothing was done');
});
