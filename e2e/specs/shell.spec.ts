// An agent that works from a shell: each call is a command of its own, and its session lasts from one to the next.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openSite } from '../sites/own-pages.ts';
import { binary, temporaryFolder } from '../stage/paths.ts';
import { run, start } from '../stage/process.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';
import { tokens } from '../stage/tokens.ts';

const rows = Array.from({ length: 12 }, (_, n) => `<li>Order ${n} <button>Open ${n}</button>`).join('');
const pages = {
  list: `<!doctype html><title>Orders</title><h1>Orders</h1><ul>${rows}</ul><p id=said>Nothing opened</p>
    <script>addEventListener('click', (e) => { said.textContent = e.target.textContent })</script>`,
  other: '<!doctype html><title>Other</title><h1>Other</h1><button>Delete everything</button>',
};

interface Said {
  out: string;
  error: string;
  exit: number;
}

/** Commands of one session. */
const shell =
  ({ relay }: Stage, session: string) =>
  async (tool: string, args: object = {}): Promise<Said> => {
    const env = { ...relay.env, TABRELAY_SESSION: session };
    const command = start(binary, ['call', tool, JSON.stringify(args), '--plain'], env);
    const exit = await command.ended;
    const out = command.printed();
    return { out, error: exit === 0 ? '' : command.output(), exit };
  };

const refOf = ({ out }: Said, name: string) => new RegExp(`button "${name}" \\[(e\\d+)\\]`).exec(out)?.[1];

test('references, the tab and its owner live from one command to the next, in one session', async ({
  closing,
}) => {
  const stage = await openStage(closing, { owned: true });
  const site = await openSite(closing, pages);
  await visit(stage, `${site}/list`);
  const [one, two] = [shell(stage, 'one'), shell(stage, 'two')];

  const seen = await one('browser__snapshot');
  expect(seen.exit, seen.error).toBe(0);
  expect(seen.out).toContain('h1 "Orders"');
  const ref = refOf(seen, 'Open 3');
  expect(ref).toBeDefined();

  const stranger = await two('browser__click', { ref });
  expect(stranger, 'in another session the reference was never told').toMatchObject({ exit: 3, out: '' });
  expect(stranger.error).toContain('outcome=not_executed');
  await expect(stage.page.locator('#said')).toHaveText('Nothing opened');

  await visit(stage, `${site}/list`); // another document of the same tab, in front
  const late = await one('browser__click', { ref });
  expect(late).toMatchObject({ exit: 3 });
  expect(late.error).toContain('DOCUMENT_CHANGED');
  const again = refOf(await one('browser__find', { text: 'Open 3' }), 'Open 3');
  const clicked = await one('browser__click', { ref: again });
  expect(clicked, clicked.error).toMatchObject({ exit: 0 });
  expect(clicked.out).toContain('clicked button "Open 3"');
  await expect(stage.page.locator('#said')).toHaveText('Open 3');

  await two('browser__snapshot');
  const owned = await two('browser__click', { ref: again });
  expect(owned, 'the tab belongs to the first session').toMatchObject({ exit: 4 });
  expect(owned.error).toContain('the session "one" of this client (cli)');

  await stage.relay.tabrelay('sessions', 'close', 'one');
  expect(await two('browser__click', { ref: again })).toMatchObject({ exit: 0 });
});

test('a session goes on in its tab while the person looks at another', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, pages);
  await visit(stage, `${site}/list`);
  const one = shell(stage, 'goes-on');
  const ref = refOf(await one('browser__snapshot'), 'Open 5');
  const other = await stage.page.context().newPage();
  await other.goto(`${site}/other`);
  await expect(other.getByRole('button')).toBeVisible();
  const clicked = await one('browser__click', { ref });
  expect(clicked, clicked.error).toMatchObject({ exit: 0 });
  await expect(stage.page.locator('#said')).toHaveText('Open 5');
});

test('what a model reads of a command is what it reads of the same call over MCP', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, pages);
  await visit(stage, `${site}/list`);
  const plain = await shell(stage, 'reads')('browser__snapshot', { full: true });
  const told = await stage.agent.call('browser__snapshot', { full: true });
  expect(plain.out).toBe(`${told.text}\n`);
  const missed = await shell(stage, 'reads')('browser__click', { ref: 'e999' });
  const failed = await stage.agent.call('browser__click', { ref: 'e999' });
  expect(missed.error.split(' ')[1]).toBe(`code=${failed.code}`);
  expect(tokens(missed.error)).toBeLessThan(tokens(failed.texts.join('\n')));
});

test('a script acts in the page of its session, and its report says what it did', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, pages);
  await visit(stage, `${site}/list`);
  const folder = await temporaryFolder('script', closing);
  const [script, report] = [path.join(folder, 'open.js'), path.join(folder, 'open.json')];
  await writeFile(
    script,
    `const lines = (await browser.find('Open')).split('\\n')
    for (const n of args.orders) {
      await browser.click('button "Open ' + n + '"')
      log('opened ' + n)
    }
    lines.length`,
  );
  const args = ['run', script, '--args', '{"orders":[2,7]}', '--report', report];
  const opens = start(binary, args, { ...stage.relay.env, TABRELAY_SESSION: 'orders' });
  expect(await opens.ended, opens.output()).toBe(0);
  expect(Number(opens.printed())).toBeGreaterThanOrEqual(12);
  await expect(stage.page.locator('#said')).toHaveText('Open 7');
  expect(JSON.parse(await readFile(report, 'utf8'))).toMatchObject({
    state: 'done',
    exit: 0,
    log: ['opened 2', 'opened 7'],
    calls: [{ tool: 'browser__find' }, { tool: 'browser__click', count: 2 }],
  });
});

test('each line of the skill runs in a real page', async ({ sharedStage: stage, closing }) => {
  const buttons = Array.from({ length: 11 }, (_, n) => `<button>Save ${n}</button>`).join('');
  const field = '<input aria-label="Name" oninput="said.textContent = value">';
  const site = await openSite(closing, {
    form: `<!doctype html><title>Form</title><h1>Form</h1>${buttons}${field}<p id=said></p>`,
  });
  const folder = await temporaryFolder('skill', closing);
  const home = { HOME: folder, CODEX_HOME: folder };
  await run(binary, ['skill', '--install', 'codex'], { ...stage.relay.env, ...home });
  const skill = await readFile(path.join(folder, '.agents/skills/tabrelay/SKILL.md'), 'utf8');
  const lines = /```sh\n(.+?)```/s.exec(skill)?.[1] ?? '';
  expect(lines.split('\n').length).toBeGreaterThan(12);
  const env = {
    ...stage.relay.env,
    PATH: `${path.dirname(binary)}:${process.env.PATH}`,
    TABRELAY_SESSION: 'skill',
  };
  const opened = stage.page.context().waitForEvent('page');
  const script = `cd ${folder}\n${lines.replace('https://example.com/', `${site}/form`)}`;
  const commands = start('sh', ['-ec', script], env);
  const page = await opened;
  expect(await commands.ended, commands.output()).toBe(0);
  expect(commands.printed()).toContain('textbox "Name" [e12]');
  await expect(page.locator('#said')).toHaveText('Ann');
  expect(tokens(skill), 'an agent pays for it once').toBeLessThan(1000);
});
