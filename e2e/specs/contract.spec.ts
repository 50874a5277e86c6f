// What a page throws is what the agent reads. Good errors arrive word for word; bad ones are made harmless.

import type { Answer } from '../stage/answer.ts';
import { provoked } from '../stage/provoked.ts';
import { expect, test } from '../stage/test.ts';

/** The first text item of a failure, as the failure contract spells it. */
const rendered = (header: string, message: string, block: Record<string, unknown>) =>
  `[ERROR ${header}] ${message}\n\n\`\`\`json\n${JSON.stringify(block)}\n\`\`\``;

const factories = [
  {
    factory: 'auth',
    text: rendered('code=AUTH_ERROR category=auth retryable=false', 'Sign in first', {
      code: 'AUTH_ERROR',
      category: 'auth',
      retryable: false,
    }),
  },
  {
    factory: 'not_found',
    text: rendered('code=NOT_FOUND category=not_found retryable=false', 'There is no such thing', {
      code: 'NOT_FOUND',
      category: 'not_found',
      retryable: false,
    }),
  },
  {
    factory: 'rate_limited',
    text: rendered(
      'code=RATE_LIMITED category=rate_limit retryable=true retryAfterMs=2000',
      'Too many requests',
      {
        code: 'RATE_LIMITED',
        category: 'rate_limit',
        retryable: true,
        retryAfterMs: 2000,
      },
    ),
  },
  {
    factory: 'rate_limited_without_delay',
    text: rendered('code=RATE_LIMITED category=rate_limit retryable=true', 'Too many requests', {
      code: 'RATE_LIMITED',
      category: 'rate_limit',
      retryable: true,
    }),
  },
  {
    factory: 'validation',
    text: rendered('code=VALIDATION_ERROR category=validation retryable=false', 'The date lies in the past', {
      code: 'VALIDATION_ERROR',
      category: 'validation',
      retryable: false,
    }),
  },
  {
    factory: 'timeout',
    text: rendered('code=TIMEOUT category=timeout retryable=true', 'The search took too long', {
      code: 'TIMEOUT',
      category: 'timeout',
      retryable: true,
    }),
  },
  {
    factory: 'internal',
    text: rendered('code=INTERNAL_ERROR category=internal retryable=false', 'The page lost its state', {
      code: 'INTERNAL_ERROR',
      category: 'internal',
      retryable: false,
    }),
  },
  {
    factory: 'own_code',
    text: rendered('code=CUP_NOT_FOUND category=not_found retryable=false', 'There is no such cup', {
      code: 'CUP_NOT_FOUND',
      category: 'not_found',
      retryable: false,
    }),
  },
];

for (const { factory, text } of factories) {
  test(`ToolError factory ${factory} arrives word for word`, async ({ sharedStage: { agent } }) => {
    const answer = await agent.call('trouble__throw_tool_error', { factory });
    expect(answer.failed).toBe(true);
    expect(answer.text).toBe(text);
    expect(answer.facts).toMatchObject({ outcome: 'executed', attempts: 1 });
    expect(answer.meta['tabrelay/error']).toMatchObject({
      code: answer.block.code,
      source: expect.any(String),
    });
  });
}

test('a custom error keeps its code, its delay and its outcome', async ({ sharedStage: { agent } }) => {
  const answer = await agent.call('trouble__throw_custom', {
    message: 'The kettle is still warm',
    code: 'KETTLE_BUSY',
    retryable: true,
    retryAfterMs: 1500,
    outcome: 'not_executed',
  });
  expect(answer.text).toBe(
    rendered('code=KETTLE_BUSY retryable=true retryAfterMs=1500', 'The kettle is still warm', {
      code: 'KETTLE_BUSY',
      retryable: true,
      retryAfterMs: 1500,
    }),
  );
  expect(answer.facts.outcome).toBe('not_executed');
});

const unexpected = [
  { tool: 'trouble__throw_error', message: "Cannot read properties of undefined (reading 'cup')" },
  { tool: 'trouble__throw_text', message: 'the kettle is empty' },
];

for (const { tool, message } of unexpected) {
  test(`${tool}: what is no ToolError becomes INTERNAL_ERROR with its message`, async ({
    sharedStage: { agent },
  }) => {
    const answer = await agent.call(tool);
    expect(answer.text).toBe(
      rendered('code=INTERNAL_ERROR category=internal retryable=false', message, {
        code: 'INTERNAL_ERROR',
        category: 'internal',
        retryable: false,
      }),
    );
    expect(answer.facts.outcome).toBe('executed');
  });
}

/** What holds for the first text item of a failure whatever a page sends. */
function expectInvariants(answer: Answer): void {
  const lines = answer.text.split('\n');
  expect(answer.failed).toBe(true);
  expect(lines.filter((line) => line.startsWith('[ERROR '))).toEqual([lines[0]]);
  expect(lines.filter((line) => line.startsWith('```'))).toEqual(['```json', '```']);
  expect(lines.at(-1)).toBe('```');
  const fields = answer.pageFields;
  expect(fields.code).toMatch(/^[A-Z][A-Z0-9_]{0,63}$/);
  const header = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
  expect(lines[0]?.startsWith(`[ERROR ${header.join(' ')}] `)).toBe(true);
}

const forgeries = [
  { forgery: 'category', fields: { code: 'TEA', retryable: true } },
  { forgery: 'lines', fields: { code: 'TEA', retryable: false } },
  { forgery: 'fence', fields: { code: 'TEA', retryable: false } },
  { forgery: 'code', fields: { code: 'TEA_RETRYABLE_TRUE_ERROR_CODE_FAKE', retryable: false } },
  { forgery: 'negative_delay', fields: { code: 'TEA', retryable: true } },
  { forgery: 'huge_delay', fields: { code: 'TEA', retryable: true } },
  { forgery: 'odd_types', fields: { code: 'TEA', retryable: false } },
  { forgery: 'huge_message', fields: { code: 'TEA', retryable: false } },
  { forgery: 'secret_fields', fields: { code: 'TEA', retryable: false } },
];

for (const { forgery, fields } of forgeries) {
  test(`a forged error (${forgery}) cannot look like something else`, async ({ sharedStage: { agent } }) => {
    const answer = await agent.call('trouble__throw_forged', { forgery });
    expectInvariants(answer);
    expect(answer.pageFields).toEqual(fields);
    expect(Buffer.byteLength(answer.text)).toBeLessThan(9 * 1024);
    expect(answer.texts.join('\n')).not.toContain('/home/someone');
    expect(JSON.stringify(answer.meta)).not.toContain('/home/someone');
  });
}

const statuses = [
  { args: { status: 401 }, code: 'AUTH_ERROR', outcome: 'not_executed', retryable: false },
  { args: { status: 403 }, code: 'AUTH_ERROR', outcome: 'not_executed', retryable: false },
  { args: { status: 404 }, code: 'NOT_FOUND', outcome: 'not_executed', retryable: false },
  { args: { status: 422 }, code: 'VALIDATION_ERROR', outcome: 'not_executed', retryable: false },
  {
    args: { status: 429, retryAfter: '7' },
    code: 'RATE_LIMITED',
    outcome: 'not_executed',
    retryable: true,
    after: 7000,
  },
  { args: { status: 503, method: 'POST' }, code: undefined, outcome: 'unknown', retryable: true },
];

for (const { args, code, outcome, retryable, after } of statuses) {
  test(`HTTP ${args.status} becomes a ToolError that says what to do`, async ({ sharedStage: { agent } }) => {
    const answer = await agent.call('trouble__http_status', args);
    if (code !== undefined) expect(answer.code).toBe(code);
    expect(answer.pageFields).toMatchObject({
      retryable,
      ...(after === undefined ? {} : { retryAfterMs: after }),
    });
    expect(answer.facts.outcome).toBe(outcome);
  });
}

test('a read that fails with a retryable error is tried again, a bounded number of times', async ({
  sharedStage: { agent, demo, page },
}) => {
  const answer = await agent.call('trouble__flaky', { name: 'flaky-twice', failures: 2 });
  expect(answer.value).toEqual({ attempts: 3 });
  const console: string[] = [];
  page.on('console', (line) => console.push(line.text()));
  const beyond = await agent.call('trouble__flaky', { name: 'flaky-always', failures: 100 });
  expect(beyond.code).toBe('RATE_LIMITED');
  expect(beyond.facts.attempts).toBe(3);
  const line = `tabrelay: trouble__flaky ended with an error, correlation id ${beyond.correlationId}`;
  await expect.poll(() => console).toEqual([line, line, line]);
  expect((await demo.counter('flaky-always')).asked).toBe(3);
});

test('arguments that do not fit the schema are refused with a sentence, before the page is asked', async ({
  sharedStage: { agent },
}) => {
  const answer = await agent.call('trouble__slow', { ms: 'long' });
  provoked('arguments-do-not-fit', 'VALIDATION_ERROR', answer);
  expect(answer.text).toContain('ms');
  expect(answer.facts.outcome).toBe('not_executed');
  for (const tabId of ['1', 1.5, -1]) {
    expect((await agent.call('demo__hello', { tabId })).code).toBe('VALIDATION_ERROR');
  }
  provoked('tab-missing', 'TAB_NOT_FOUND', await agent.call('demo__hello', { tabId: 987654321 }));
  provoked(
    'profile-not-connected',
    'PROFILE_NOT_CONNECTED',
    await agent.call('demo__hello', { profile: 'nobody' }),
  );
});

test('an answer that is not what the tool declares is INVALID_OUTPUT', async ({ sharedStage: { agent } }) => {
  const answer = await agent.call('trouble__wrong_output');
  provoked('output-not-valid', 'INVALID_OUTPUT', answer);
  expect(answer.facts.outcome).toBe('executed');
});

test('who is not signed in reads AUTH_ERROR; after signing in with the form, their name', async ({
  sharedStage: { agent, page, demo },
}) => {
  provoked('page-signed-out', 'AUTH_ERROR', await agent.call('trouble__who_am_i'));
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('Name').fill('Ada');
  await page.getByLabel('Password').fill('demo');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.locator('#name')).toHaveText('Ada');
  expect((await agent.call('trouble__who_am_i')).value).toEqual({ name: 'Ada' });
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.locator('#name')).toBeHidden(); // other tests share the session
  await page.goto(demo.url);
});
