// Working on a plugin: what is saved is live in the tab that is open.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { binary } from '../stage/paths.ts';
import { mainWorldPlugin } from '../stage/plugin.ts';
import { start } from '../stage/process.ts';
import { atTerminal } from '../stage/terminal.ts';
import { expect, test } from '../stage/test.ts';

const source = (version: number) => `
import { definePlugin, defineTool, sleep } from '@tabrelay/plugin-sdk';
const version = defineTool({
  name: 'version', description: 'Which version answers, after some time.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: { ms: { type: 'integer', default: 0 } }, additionalProperties: false },
  async handle({ ms }, { log, signal }) {
    log.info('version ${version} begins with ' + ms);
    await sleep(ms, { signal });
    return { version: ${version}, title: document.title };
  },
});
export default definePlugin({ tools: [version] });
`;

for (const world of ['main', 'isolated'] as const) {
  test(`a save is live in the open tab, and what runs ends as it began (${world} world)`, async ({
    stage,
  }) => {
    const { agent, closing, demo, relay } = stage;
    const folder = await mainWorldPlugin(demo.url, closing);
    const file = path.join(folder, 'src/index.ts');
    if (world === 'isolated') {
      const about = { displayName: 'Main world', urlPatterns: [`${demo.url}/*`], world };
      const content = { name: 'tabrelay-plugin-main-world', version: '0.1.0', tabrelay: about };
      await writeFile(path.join(folder, 'package.json'), JSON.stringify(content));
    }
    await writeFile(file, source(1));
    const dev = start(binary, ['plugin', 'dev', folder], relay.env);
    closing.defer(() => dev.stop('SIGINT'));
    await expect.poll(() => agent.tools()).toContain('main-world__version');
    const answer = async (ms = 0) => (await agent.call('main-world__version', { ms })).said;
    await expect.poll(answer).toEqual({ version: 1, title: 'tabrelay demo' });

    // The session shows what it runs, from a moment on.
    const shown = async () => {
      await answer();
      return dev.output();
    };
    await expect.poll(shown).toContain('main-world__version answered in ');

    // A call of the first version is under way while the second one is saved.
    const running = answer(3000);
    await expect.poll(() => dev.output()).toContain('version 1 begins with 3000');
    const took: number[] = [];
    for (let version = 2; version <= 6; version++) {
      const saved = performance.now();
      await writeFile(file, source(version));
      await expect.poll(answer, { intervals: [1] }).toMatchObject({ version });
      took.push(Math.round(performance.now() - saved));
    }
    process.stdout.write(`    save to the new result, ${world} world, in ms: ${took.join(' ')}\n`);
    expect(await running).toMatchObject({ version: 1 });

    // What does not build takes nothing away, and it is said where.
    await writeFile(file, `${source(7)}\nconst = 1;\n`);
    await expect.poll(() => dev.output()).toMatch(/error: src\/index\.ts:\d+:\d+: /);
    expect(await answer()).toMatchObject({ version: 6 });
    expect(await relay.tabrelay('plugin', 'list')).toMatch(/it does not build: src\/index\.ts:\d+:\d+: /);
    await writeFile(file, source(8));
    await expect.poll(answer).toMatchObject({ version: 8 });
    expect(await relay.tabrelay('plugin', 'list')).not.toContain('does not build');

    // The session takes its plugin along when it ends.
    await dev.stop('SIGINT');
    expect(await dev.ended).toBe(0);
    await expect.poll(() => agent.tools()).not.toContain('main-world__version');
  });
}

const faulty = `
import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
import { price } from './price.ts';
const common = { annotations: { readOnlyHint: true }, input: { type: 'object', properties: {} } };
const thrown = defineTool({ ...common, name: 'thrown', description: 'Fails.', handle() {
  console.warn('no price yet');
  return { price: price(JSON.parse('{}')) };
} });
const lost = defineTool({ ...common, name: 'lost', description: 'Answers what JSON cannot say.', handle: () => ({
  prices: new Map([['tea', 2]]), later: Promise.resolve(1), none: Number.NaN,
}) });
export default definePlugin({ tools: [thrown, lost] });
`;
const price = `
export function price(tea: { cost: { amount: number } }): number {
  return tea.cost.amount * 2;
}
`;

for (const world of ['main', 'isolated'] as const) {
  test(`a failure is shown at its line, and what a result loses (${world} world)`, async ({
    sharedStage,
  }) => {
    const { agent, closing, demo, relay } = sharedStage;
    const folder = await mainWorldPlugin(demo.url, closing);
    const name = `tabrelay-plugin-faulty-${world}`;
    const about = { displayName: 'Faulty', urlPatterns: [`${demo.url}/*`], world };
    await writeFile(
      path.join(folder, 'package.json'),
      JSON.stringify({ name, version: '0.1.0', tabrelay: about }),
    );
    await writeFile(path.join(folder, 'src/price.ts'), price);
    await writeFile(path.join(folder, 'src/index.ts'), faulty);
    const dev = start(binary, ['plugin', 'dev', folder], relay.env);
    closing.defer(() => dev.stop('SIGINT'));
    await expect.poll(() => agent.tools()).toContain(`faulty-${world}__thrown`);
    const shown = async (tool: string) => {
      await agent.call(`faulty-${world}__${tool}`);
      return dev.output();
    };
    await expect
      .poll(() => shown('thrown'))
      .toContain('src/price.ts:3:19\n    3 |   return tea.cost.amount * 2;\n');
    // The agent, who did not ask where, is not told.
    expect((await agent.call(`faulty-${world}__thrown`)).facts).not.toHaveProperty('traceLine');
    await expect.poll(() => dev.output()).toContain(`faulty-${world}__thrown console: warning: no price yet`);
    await expect
      .poll(() => shown('lost'))
      .toContain('"later" of the result is a promise, and becomes {}: await it');
    expect(dev.output()).toContain('"prices" of the result is a Map');
    expect(dev.output()).toContain('"none" of the result is NaN, and becomes null');
  });
}

const early = `
import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
const go = defineTool({ name: 'go', description: 'Leaves a promise behind.', annotations: { readOnlyHint: true },
  handle() {
    void Promise.reject('no tea left');
    return 1;
  } });
export default definePlugin({
  tools: [go],
  onActivate() {
    setTimeout(() => {
      throw new Error('the timer of onActivate');
    });
    void Promise.reject(new Error('the promise of onActivate'));
    throw new Error('onActivate itself');
  },
});
`;

for (const world of ['main', 'isolated'] as const) {
  test(`what a plugin throws before its first call is shown, and what is no error (${world} world)`, async ({
    sharedStage,
  }) => {
    const { agent, closing, demo, page, relay } = sharedStage;
    const folder = await mainWorldPlugin(demo.url, closing);
    const name = `early-${world}`;
    const about = { displayName: 'Early', urlPatterns: [`${demo.url}/*`], world };
    await writeFile(
      path.join(folder, 'package.json'),
      JSON.stringify({ name: `tabrelay-plugin-${name}`, version: '0.1.0', tabrelay: about }),
    );
    await writeFile(path.join(folder, 'src/index.ts'), early);
    const dev = atTerminal(relay, closing, ['plugin', 'dev', folder], 'yes\n');
    await expect.poll(() => dev.output()).toContain('Each save is live');
    const from = `error of ${name}, before its first call in the document:`;
    const said = (what: string) =>
      expect.poll(() => dev.output().replaceAll('\r', '')).toMatch(new RegExp(what));
    await expect
      .poll(async () => {
        await page.reload();
        await agent.call(`${name}__go`);
        return dev.output();
      })
      .toContain(`${from} onActivate failed: Error: onActivate itself`);
    await said(`onActivate itself\n +src/index\\.ts:15:11\n +15 \\| `);
    await said(
      `: Error: the promise of onActivate(?: \\(another script.*)?\n +src/index\\.ts:14:25\n +14 \\| `,
    );
    await said(
      `: Error: the timer of onActivate(?: \\(another script.*)?\n +src/index\\.ts:12:13\n +12 \\| `,
    );
    await said(
      `in a promise that nobody awaits, .*: no tea left \\(a string, which has no line: reject with`,
    );
  });
}

/** Whether something in a page's main world waits for promises that nobody awaits. */
async function listening(page: Page): Promise<boolean> {
  const session = await page.context().newCDPSession(page);
  const { result } = await session.send('Runtime.evaluate', { expression: 'globalThis' });
  const { listeners } = await session.send('DOMDebugger.getEventListeners', {
    objectId: result.objectId ?? '',
  });
  await session.detach();
  return listeners.some(({ type }) => type === 'unhandledrejection');
}

const late = `
import { definePlugin, defineTool, fetchJSON } from '@tabrelay/plugin-sdk';
const input = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false } as const;
const common = { annotations: { readOnlyHint: true }, input };
const start = defineTool({ ...common, name: 'start', description: 'Leaves work behind.', handle({ text }) {
  console.log('started with ' + text);
  document.addEventListener('tea', () => {
    throw new Error('the listener of ' + text);
  });
  setTimeout(() => {
    throw new Error('the timer of ' + text);
  });
  setTimeout(() => {
    throw 'no error, of ' + text;
  });
  void forgotten(text);
  void fetchJSON('/there-is-no-such-page');
  return { text };
} });
async function forgotten(text?: string) {
  await Promise.resolve();
  const cup: { tea?: { leaves: number } } = {};
  return cup.tea!.leaves + String(text);
}
export default definePlugin({ tools: [start] });
`;

for (const world of ['main', 'isolated'] as const) {
  test(`late errors of a plugin, and the console, are shown; those of the page are not (${world} world)`, async ({
    sharedStage,
  }) => {
    const { agent, browser, closing, demo, relay } = sharedStage;
    const folder = await mainWorldPlugin(demo.url, closing);
    const name = `late-${world}`;
    const about = { displayName: 'Late', urlPatterns: [`${demo.url}/*`], world };
    await writeFile(
      path.join(folder, 'package.json'),
      JSON.stringify({ name: `tabrelay-plugin-${name}`, version: '0.1.0', tabrelay: about }),
    );
    await writeFile(path.join(folder, 'src/index.ts'), late);
    const dev = start(binary, ['plugin', 'dev', folder], relay.env);
    closing.defer(() => dev.stop('SIGINT'));
    await expect.poll(() => agent.tools()).toContain(`${name}__start`);
    const answered = async () => {
      await agent.call(`${name}__start`, { text: 'green tea' });
      return dev.output();
    };
    await expect.poll(answered).toContain(`${name}__start console: started with green tea`);
    const said = (what: string) => expect.poll(() => dev.output()).toMatch(new RegExp(what));
    const of = `late error of ${name}`;
    const after = `[0-9.]+m?s after ${name}__start had ended`;
    // Scripts of the page share the main world, and can give their errors any stack.
    const doubt = world === 'main' ? ' \\(another script in the main world could forge this\\)' : '';
    await said(`${of}, ${after}: Error: the timer of green tea${doubt}\n +src/index\\.ts:11:11\n +11 \\| `);
    await said(`${of}, ${after}: no error, of green tea${doubt}\n +src/index\\.ts:14:5\n`);
    await said(`${of}, in a promise that nobody awaits, .*: TypeError: .*leaves.*\n +src/index\\.ts:23:19\n`);
    await said(`${of}, in a promise that nobody awaits, .* answered 404.*\n +in the SDK `);

    // What the page does itself is not the plugin's, and a listener may throw long after its call.
    const page = browser.pages().find((one) => one.url().startsWith(demo.url));
    if (page === undefined) throw new Error('the page is gone');
    await page.evaluate(() => {
      setTimeout(() => {
        throw new Error('of the page');
      });
      void Promise.reject(new Error('of the page, too'));
      document.dispatchEvent(new Event('tea'));
    });
    await said(`${of}, ${after}: Error: the listener of green tea${doubt}\n +src/index\\.ts:8:11\n`);
    expect(dev.output()).not.toContain('of the page');

    // Nobody listens any more once nobody works on the plugin, and the log has nothing of it.
    await dev.stop('SIGINT');
    await relay.tabrelay('plugin', 'add', folder);
    await relay.person('plugin', 'review', name);
    await expect.poll(() => agent.tools()).toContain(`${name}__start`);
    expect((await agent.call(`${name}__start`, { text: 'black tea' })).said).toEqual({ text: 'black tea' });
    await expect.poll(() => listening(page)).toBe(false);
    expect(relay.log()).not.toMatch(/green tea|black tea/);
  });
}
