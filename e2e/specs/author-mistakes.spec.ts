// What authors typically do wrong in a handler, through a real call: `plugin dev` says it once, where it is, and what
// to write. What shows when a plugin is built is in relay/plugin/build/mistakes_test.go.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { binary } from '../stage/paths.ts';
import { mainWorldPlugin } from '../stage/plugin.ts';
import { start } from '../stage/process.ts';
import { expect, test } from '../stage/test.ts';

const mistakes: Record<string, { body: string; says: string; code?: string }> = {
  thrown_text: {
    body: "throw 'no tea'",
    says: 'threw a string, which has no line: throw new Error(…)',
    code: 'INTERNAL_ERROR',
  },
  thrown_error: { body: "throw new Error('no tea')", says: 'src/index.ts:', code: 'INTERNAL_ERROR' },
  thrown_fields: {
    body: "throw { error: 'no tea', status: 4 }",
    says: 'threw an object, which has no line: throw new Error(…)',
    code: 'INTERNAL_ERROR: {"error":"no tea","status":4}',
  },
  thrown_promise: {
    body: 'throw Promise.resolve(1)',
    says: 'threw a Promise, which has no line',
    code: 'INTERNAL_ERROR',
  },
  cause: {
    body: "throw new Error('no tea', { cause: new Error('no water') })",
    says: 'It was caused by Error: no water',
    code: 'INTERNAL_ERROR',
  },
  several: {
    body: "return Promise.any([Promise.reject(new Error('no tea')), Promise.reject(new Error('no cup'))])",
    says: 'It stands for Error: no cup',
    code: 'INTERNAL_ERROR',
  },
  no_line: {
    body: "return fetch('/').then((page) => page.json())",
    says: 'None of your lines is in its stack: catch it where it is awaited',
    code: 'INTERNAL_ERROR',
  },
  generator: {
    body: 'return (async function* () { yield 1 })()',
    says: 'is an AsyncGenerator, and becomes {}: collect it with for await',
  },
  elements: { body: "return document.querySelectorAll('h1')", says: 'is a NodeList, and becomes' },
  answer: { body: "return { tea: new Response('green') }", says: 'is a Response, and becomes {}: await its' },
  not_awaited: { body: 'return { tea: Promise.resolve(1) }', says: 'is a promise, and becomes {}: await it' },
  map: {
    body: "return { tea: new Map([['a', 1]]) }",
    says: 'is a Map, and becomes {}: Object.fromEntries(…)',
  },
  circular: {
    body: 'const tea: unknown[] = []; tea.push(tea); return tea',
    says: 'leads back to itself, and fails: return',
    code: 'INVALID_OUTPUT',
  },
  bigint: {
    body: 'return { tea: 10n }',
    says: '"tea" of the result is a BigInt, and fails: String(it)',
    code: 'INVALID_OUTPUT',
  },
  getter: {
    body: "return { get tea(): string { throw new Error('no leaf') } }",
    says: "throw new Error('no leaf')",
    code: "INVALID_OUTPUT: The tool's result is not JSON: no leaf",
  },
  to_json: {
    body: "return [{ toJSON() { throw new Error('no pot') } }]",
    says: "throw new Error('no pot')",
    code: 'INVALID_OUTPUT',
  },
  huge: {
    body: "return 'tea'.repeat(10_000_000)",
    says: 'Answer in parts (listPage, textPage of @tabrelay/plugin-sdk/paging), or return only the fields',
    code: 'OUTPUT_TOO_LARGE',
  },
  no_dom: {
    body: "return document.querySelector('#tea')!.textContent",
    says: 'src/index.ts:',
    code: 'INTERNAL_ERROR',
  },
};

for (const world of ['main', 'isolated'] as const) {
  test(`mistakes in handlers are said with what to write (${world} world)`, async ({ sharedStage }) => {
    const { agent, closing, demo, relay } = sharedStage;
    const folder = await mainWorldPlugin(demo.url, closing);
    const name = `mistakes-${world}`;
    const about = { displayName: 'Mistakes', urlPatterns: [`${demo.url}/*`], world };
    await writeFile(
      path.join(folder, 'package.json'),
      JSON.stringify({ name: `tabrelay-plugin-${name}`, version: '0.1.0', tabrelay: about }),
    );
    const tools = Object.entries(mistakes).map(
      ([tool, { body }]) =>
        `defineTool({ name: '${tool}', description: 'Fails.', input: { type: 'object', properties: {} },\n` +
        `  annotations: { readOnlyHint: true }, handle(): unknown {\n    ${body};\n  } }),`,
    );
    await writeFile(
      path.join(folder, 'src/index.ts'),
      `import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';\n` +
        `export default definePlugin({ tools: [\n${tools.join('\n')}\n] });\n`,
    );
    const dev = start(binary, ['plugin', 'dev', folder], relay.env);
    closing.defer(() => dev.stop('SIGINT'));
    await expect.poll(() => agent.tools()).toContain(`${name}__map`);
    for (const [tool, { says, code }] of Object.entries(mistakes)) {
      const shown = async () => {
        await agent.call(`${name}__${tool}`);
        return dev.output();
      };
      await expect
        .poll(shown, { message: tool })
        .toMatch(new RegExp(`${name}__${tool} .*${code ?? 'answered'}`));
      await expect.poll(shown, { message: tool }).toContain(says); // the first call may come before it is followed
    }
  });
}
