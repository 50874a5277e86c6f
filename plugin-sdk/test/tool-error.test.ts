import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fail, ToolError } from '../src/index.ts';

const fields = ({ message, name, code, category, retryable, retryAfterMs, outcome }: ToolError) => ({
  message,
  name,
  code,
  category,
  retryable,
  retryAfterMs,
  outcome,
});

const error = (code: string, category: string | undefined, retryable: boolean, retryAfterMs?: number) => ({
  message: 'm',
  name: 'ToolError',
  code,
  category,
  retryable,
  retryAfterMs,
  outcome: undefined,
});

test('each factory sets code, category and retryable', () => {
  assert.deepEqual(fields(ToolError.auth('m')), error('AUTH_ERROR', 'auth', false));
  assert.deepEqual(fields(ToolError.notFound('m')), error('NOT_FOUND', 'not_found', false));
  assert.deepEqual(fields(ToolError.rateLimited('m')), error('RATE_LIMITED', 'rate_limit', true));
  assert.deepEqual(fields(ToolError.rateLimited('m', 2000)), error('RATE_LIMITED', 'rate_limit', true, 2000));
  assert.deepEqual(fields(ToolError.validation('m')), error('VALIDATION_ERROR', 'validation', false));
  assert.deepEqual(fields(ToolError.timeout('m')), error('TIMEOUT', 'timeout', true));
  assert.deepEqual(fields(ToolError.internal('m')), error('INTERNAL_ERROR', 'internal', false));
});

test('a factory takes a code of its own', () => {
  assert.equal(ToolError.notFound('m', 'CUP_NOT_FOUND').code, 'CUP_NOT_FOUND');
  assert.equal(ToolError.rateLimited('m', 1, 'SLOW_DOWN').code, 'SLOW_DOWN');
});

test('the constructor defaults to not retryable and no category', () => {
  assert.deepEqual(fields(new ToolError('m', 'X')), error('X', undefined, false));
  const full = new ToolError('m', 'X', {
    retryable: true,
    retryAfterMs: 5,
    category: 'auth',
    outcome: 'unknown',
  });
  assert.deepEqual(fields(full), { ...error('X', 'auth', true, 5), outcome: 'unknown' });
});

test('instanceof takes errors of another copy of the class, and nothing else', async () => {
  const url = new URL('../src/tool-error.ts?copy', import.meta.url).href;
  const copy: { ToolError: typeof ToolError } = await import(url);
  assert.notEqual(copy.ToolError, ToolError);
  assert.ok(copy.ToolError.auth('m') instanceof ToolError);
  assert.ok(ToolError.auth('m') instanceof Error);
  for (const other of [new Error('m'), { code: 'X' }, { name: 'ToolError', code: 7 }, null, 'ToolError']) {
    assert.equal(Reflect.apply(isToolError, undefined, [other]), false);
  }
});

const isToolError = (value: unknown): boolean => value instanceof ToolError;

test('a subclass keeps its own instanceof', () => {
  class QuotaError extends ToolError {}
  const quota = new QuotaError('m', 'QUOTA');
  assert.ok(quota instanceof QuotaError);
  assert.ok(quota instanceof ToolError);
  assert.equal(ToolError.auth('m') instanceof QuotaError, false);
});

test('fail throws the ToolError of its type; hint and data are fields of it', () => {
  const thrown = (failure: Parameters<typeof fail>[0]): ToolError => {
    try {
      return fail(failure);
    } catch (caught) {
      assert.ok(caught instanceof ToolError);
      return caught;
    }
  };
  const failure = { type: 'not_found', message: 'No cup.', hint: 'Look again.', data: { id: 1 } };
  const caught = thrown(failure);
  assert.deepEqual(fields(caught), { ...error('NOT_FOUND', 'not_found', false), message: 'No cup.' });
  assert.deepEqual(
    { type: caught.type, hint: caught.hint, data: caught.data },
    {
      type: 'not_found',
      hint: 'Look again.',
      data: { id: 1 },
    },
  );
  assert.equal(thrown({ type: 'network_error', message: 'm' }).retryable, true);
  assert.equal(thrown({ type: '', message: 'm' }).code, 'INTERNAL_ERROR');
  assert.equal(thrown({ type: 'host_blocked', message: 'm' }).code, 'HOST_BLOCKED');
});
