// What each helper of the OpenTabs SDK does in a page: how requests fail, what is waited for, what is written to the
// log. From sources, and as the package was published.

import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { openNotebook } from '../sites/notebook.ts';
import type { Agent } from '../stage/agent.ts';
import type { Closing } from '../stage/closing.ts';
import { addNotes, visitWithPlugin } from '../stage/opentabs.ts';
import { publishedForOpenTabs } from '../stage/published.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

const name = 'opentabs-notes';

const ways = {
  'from sources': (stage: Stage, site: string, closing: Closing) => addNotes(stage, site, closing, name),
  'as published': async (stage: Stage, site: string, closing: Closing) => {
    await stage.relay.tabrelay('plugin', 'add', await publishedForOpenTabs(name, site, stage.relay, closing));
  },
};

/** What each tool is asked, and what it has to answer. */
const answers: [tool: string, answer: unknown][] = [
  [
    'read_headers',
    {
      found: {
        seconds: 2000,
        nonsense: null,
        reset: 3000,
        none: null,
        query: 'a=1&b=x&b=y+z&d=false',
        kept: { a: null, c: 0, d: '' },
      },
    },
  ],
  [
    'check_names',
    {
      found: {
        names: [true, false, false],
        matches: true,
        reserved: true,
        patterns: [true, true, false, false, false],
        icon: true,
      },
    },
  ],
  ['read_empty', { found: { json: true, text: '' } }],
  [
    'read_oddly',
    { found: { elements: 0, text: null, lines: 'first\n  second', global: null, missing: null } },
  ],
  ['fill_storage', { found: null }],
  ['wait_through_errors', { asked: 3 }],
  [
    'retry_anything',
    { tries: [3, 5, 1], failures: ['not there', 'no', 'stopped trying', expect.stringContaining('0')] },
  ],
  ['observe', { attributes: 1, children: 1, missing: expect.stringContaining('#never') }],
  [
    'wait_in_vain',
    {
      failures: [
        expect.stringContaining('#never'),
        'stopped looking',
        expect.stringContaining('li['),
        expect.stringContaining('h1'),
        'stopped waiting',
        expect.stringMatching(/30 ?ms|0\.03 s/),
        'stopped asking',
        'woken',
      ],
    },
  ],
];

/** What ToolError's factories make. */
const failures: [kind: string, failure: Record<string, unknown>][] = [
  ['auth', { code: 'AUTH_ERROR', category: 'auth', retryable: false }],
  ['notFound', { code: 'NOT_FOUND', category: 'not_found', retryable: false }],
  ['rateLimited', { code: 'RATE_LIMITED', category: 'rate_limit', retryable: true, retryAfterMs: 1500 }],
  ['validation', { code: 'VALIDATION_ERROR', category: 'validation', retryable: false }],
  ['timeout', { code: 'TIMEOUT', category: 'timeout', retryable: true }],
  ['internal', { code: 'INTERNAL_ERROR', category: 'internal', retryable: false }],
  ['own', { code: 'NOTEBOOK_CLOSED', category: 'validation', retryable: true }],
  ['plain', { code: 'INTERNAL_ERROR', category: 'internal' }],
];

/** What an answer's status means. */
const statuses: [status: number, failure: Record<string, unknown>][] = [
  [400, { code: 'VALIDATION_ERROR', category: 'validation', retryable: false }],
  [401, { code: 'AUTH_ERROR', category: 'auth', retryable: false }],
  [403, { code: 'AUTH_ERROR' }],
  [404, { code: 'NOT_FOUND' }],
  [408, { code: 'TIMEOUT', retryable: true }],
  [422, { code: 'VALIDATION_ERROR' }],
  [429, { code: 'RATE_LIMITED', category: 'rate_limit', retryable: true, retryAfterMs: 2000 }],
  [500, { category: 'internal', retryable: true }],
  [503, { category: 'internal', retryable: true, retryAfterMs: 2000 }],
  [418, { code: 'HTTP_418', retryable: false }],
];

const requests = `fetchFromPage fetchJSON fetchText postJSON putJSON patchJSON deleteJSON postForm postFormData`;

for (const [way, add] of Object.entries(ways)) {
  test(`helpers answer and fail as they do there, ${way}`, async ({ closing }) => {
    const { agent } = await openNotes(closing, add);
    await test.step('values and waits', async () => {
      for (const [tool, answer] of answers) {
        expect((await agent.call(`${name}__${tool}`)).value, tool).toEqual(answer);
      }
    });
    await test.step('factories of ToolError', async () => {
      for (const [kind, failure] of failures) {
        expect((await agent.call(`${name}__fail_as`, { kind })).block, kind).toMatchObject(failure);
      }
    });
    await test.step('statuses', async () => {
      for (const [status, failure] of statuses) {
        const answer = await agent.call(`${name}__explain_status`, { status });
        expect(answer.block, String(status)).toMatchObject(failure);
        expect(answer.text).toContain(`my own words for ${status}`);
      }
      for (const by of requests.split(' ')) {
        const answer = await agent.call(`${name}__ask_status`, { status: 429, by });
        expect(answer.block, by).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 2000 });
        expect(answer.text, by).toContain('as you asked');
      }
    });
    await test.step('answers that do not come, or are others', async () => {
      const codeOf = async (tool: string, args: object) =>
        (await agent.call(`${name}__${tool}`, { ...args })).code;
      expect(await codeOf('give_up', { by: 'timeout' })).toBe('TIMEOUT');
      expect(await codeOf('give_up', { by: 'network' })).toBe('NETWORK_ERROR');
      expect((await agent.call(`${name}__give_up`, { by: 'signal' })).value).toEqual({ reason: 'enough' });
      expect(await codeOf('misread_answer', { as: 'schema' })).toBe('INVALID_RESPONSE');
      expect(await codeOf('misread_answer', { as: 'json' })).toBe('INVALID_RESPONSE');
    });
  });

  test(`hooks, readiness, progress and log, ${way}`, async ({ closing }) => {
    const { stage, site, agent } = await openNotes(closing, add);
    await test.step('each way to another address is heard once', async () => {
      await stage.page.evaluate(() => {
        history.pushState(null, '', '#pushed');
        history.replaceState(null, '', '#replaced');
        location.hash = 'hash';
      });
      await stage.page.goBack();
      const told = async () => {
        const { value } = await agent.call(`${name}__read_events`);
        return JSON.stringify(value).match(/navigate #\w+/g);
      };
      await expect
        .poll(told)
        .toEqual(['navigate #pushed', 'navigate #replaced', 'navigate #hash', 'navigate #replaced']);
    });
    await test.step('a hook that fails ends nothing', async () => {
      expect((await agent.call(`${name}__read_title`)).value).toEqual({ text: 'Notebook' });
    });
    await test.step('steps without a number are counted', async () => {
      const steps: string[] = [];
      const onprogress = (step: { progress: number; message?: string | undefined }) =>
        void steps.push(`${step.progress} ${step.message}`);
      await agent.call(`${name}__tell_steps`, {}, { onprogress });
      await expect.poll(() => steps).toEqual(['1 looking', '2 reading']);
    });
    await test.step('lines of each level, with all that was given', async () => {
      const lines = await logged(agent);
      expect(lines).toMatchObject([
        { level: 'debug', data: 'no value' },
        { level: 'info', data: { message: 'two values', data: { value: [1, { two: 2 }] } } },
        { level: 'warning', data: { message: 'an error' } },
        { level: 'error', data: { message: 'a loop' } },
      ]);
      expect(JSON.stringify(lines)).toMatch(/RangeError.*too far|too far.*RangeError/);
      expect(JSON.stringify(lines[3])).toContain('see above');
    });
    await test.step('storage that the page deleted is found', async () => {
      await visit(stage, `${site}/without-storage`);
      const { value } = await agent.call(`${name}__local_entry`);
      expect(value).toEqual({ value: 'kept', after: null });
      const found = await agent.call(`${name}__find_entry`, { prefix: 'notes:' });
      expect(found.value).toEqual({ entry: { key: 'notes:last', value: '7' } });
    });
    await test.step('a page that tells when it is ready is not asked in vain', async () => {
      await visit(stage, `${site}/telling`);
      expect((await agent.call(`${name}__read_url`)).value).toEqual({ url: `${site}/telling` });
    });
  });
}

async function openNotes(closing: Closing, add: (typeof ways)['as published']) {
  const site = await openNotebook(closing);
  const stage = await openStage(closing);
  await add(stage, site, closing);
  await visitWithPlugin(stage, `${site}/`, `${name}__read_url`, {});
  return { stage, site, agent: stage.agent };
}

/** What the agent is told while a tool writes to its log. */
async function logged(agent: Agent): Promise<unknown[]> {
  const lines: unknown[] = [];
  agent.client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    lines.push(params);
  });
  await agent.client.setLoggingLevel('debug');
  await agent.call(`${name}__write_log`);
  return lines;
}
