// Working on a plugin: what is saved is live in the tab that is open.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { binary } from '../stage/paths.ts';
import { mainWorldPlugin } from '../stage/plugin.ts';
import { start } from '../stage/process.ts';
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
