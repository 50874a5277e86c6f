// The page of the comparison is what its measurements say, and hides no loss.

import { readFile } from 'node:fs/promises';
import { expect, test } from '@playwright/test';
import {
  type Comparison,
  compared,
  losses,
  page,
  readMeasurements,
  rendered,
} from '../bench/errands/comparison.ts';

const measured = { date: '2026-11-26', commit: 'abc', load: 1 };
const costs = { runs: 1, done: 1, calls: 10, tokens: 1000, ms: 5000 };

/** Measurements in which all are equal, so that nobody loses. */
const equal = (): Comparison => ({
  machine: { system: 'Linux', processor: 'one', cores: 2, memoryGB: 8, chromium: 'Chromium', node: 'v24' },
  servers: compared.map((server) => ({ server, version: '1', toolsList: 2000, instructions: 1000 })),
  errands: compared.map((server) => ({ errand: 'an errand', server, ...costs, measured })),
  loops: compared.map((server) => ({ errand: 'a loop', server, ...costs, measured })),
  looks: compared.map((server) => ({ page: 'a page', server, tokens: [500, 500, 10, 20], measured })),
});

test('the committed page has what the committed measurements say', async () => {
  const text = await readFile(page, 'utf8');
  expect(rendered(text, await readMeasurements())).toBe(text);
});

test('each way to lose is listed, with both figures', async () => {
  const all = equal();
  expect(losses(all)).toEqual([]);
  const [, playwright, devtools, browser] = all.errands;
  Object.assign(playwright ?? {}, { calls: 9 });
  Object.assign(devtools ?? {}, { tokens: 999 });
  Object.assign(browser ?? {}, { ms: 4000 });
  Object.assign(all.servers[1] ?? {}, { toolsList: 1999 });
  Object.assign(all.servers[3] ?? {}, { instructions: 999 });
  Object.assign(all.looks[2] ?? {}, { tokens: [499, 600, 10, 19] });
  const lost = [
    '- an errand: Playwright MCP 9 calls to 10',
    '- an errand: chrome-devtools-mcp 999 tokens to 1000',
    '- an errand: agent-browser 4.0 s to 5.0 s',
    '- The list of tools: Playwright MCP 1999 tokens to 2000',
    '- What an agent reads first: agent-browser 999 tokens to 1000',
    '- A look at a page: chrome-devtools-mcp 499 tokens for a first look to 500, ' +
      '19 tokens for one after a change to 20',
  ];
  expect(losses(all)).toEqual(lost);
  const made = rendered(await readFile(page, 'utf8'), all);
  for (const one of lost) expect(made).toContain(`${one}\n`);
});

test('what others do and tabrelay does not is lost; what only tabrelay does is not', () => {
  const all = equal();
  Object.assign(all.errands[0] ?? {}, { done: 0, calls: 1, tokens: 1, ms: 1 });
  Object.assign(all.errands[1] ?? {}, { done: 0 });
  const does = (server: string) => `- an errand: ${server} does it 1 of 1 times, tabrelay 0 of 1`;
  expect(losses(all)).toEqual([does('chrome-devtools-mcp'), does('agent-browser')]);
  Object.assign(all.errands[0] ?? {}, costs);
  Object.assign(all.errands[1] ?? {}, { calls: 1, tokens: 1, ms: 1 });
  expect(losses(all)).toEqual([]);
});

test('what a server said of a failure is one line of code in the page, whatever it said', async () => {
  const all = equal();
  const why = 'no `x` |\n<!-- end of errands -->\n# Heading';
  Object.assign(all.errands[1] ?? {}, { done: 0, why });
  const made = rendered(await readFile(page, 'utf8'), all);
  expect(made).toContain('- Playwright MCP, an errand: `no x !-- end of errands -- # Heading`');
});
