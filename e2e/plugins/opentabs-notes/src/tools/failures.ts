import {
  defineTool,
  deleteJSON,
  fetchFromPage,
  fetchJSON,
  fetchJSONImpl,
  fetchText,
  httpStatusToToolError,
  patchJSON,
  postForm,
  postFormData,
  postJSON,
  putJSON,
  ToolError,
} from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';

const nothing = z.object({});

const factories = {
  auth: () => ToolError.auth('Sign in first'),
  notFound: () => ToolError.notFound('There is none'),
  rateLimited: () => ToolError.rateLimited('Too many', 1500),
  validation: () => ToolError.validation('That is no note'),
  timeout: () => ToolError.timeout('It took too long'),
  internal: () => ToolError.internal('It broke'),
  own: () => new ToolError('Closed', 'NOTEBOOK_CLOSED', { category: 'validation', retryable: true }),
  plain: () => new TypeError('no ToolError'),
};

const failAs = defineTool({
  name: 'fail_as',
  description: 'Fails with what a factory of ToolError makes',
  input: z.object({
    kind: z.enum(['auth', 'notFound', 'rateLimited', 'validation', 'timeout', 'internal', 'own', 'plain']),
  }),
  output: nothing,
  async handle({ kind }) {
    throw factories[kind]();
  },
});

const requests: Record<string, (url: string) => Promise<unknown>> = {
  fetchFromPage: (url) => fetchFromPage(url),
  fetchJSON: (url) => fetchJSON(url),
  fetchText: (url) => fetchText(url),
  postJSON: (url) => postJSON(url, {}),
  putJSON: (url) => putJSON(url, {}),
  patchJSON: (url) => patchJSON(url, {}),
  deleteJSON: (url) => deleteJSON(url),
  postForm: (url) => postForm(url, { a: 'b' }),
  postFormData: (url) => postFormData(url, new FormData()),
};

const askStatus = defineTool({
  name: 'ask_status',
  description: 'Sends a request that is answered with a status',
  input: z.object({
    status: z.number(),
    by: z.string().default('fetchFromPage'),
  }),
  output: z.object({ answered: z.boolean() }),
  async handle({ status, by }) {
    await requests[by]?.(`/api/status?status=${status}`);
    return { answered: true };
  },
});

const explainStatus = defineTool({
  name: 'explain_status',
  description: 'Makes an error of an answer itself',
  input: z.object({ status: z.number() }),
  output: nothing,
  async handle({ status }) {
    const response = await fetch(`/api/status?status=${status}`);
    throw httpStatusToToolError(response, `my own words for ${response.status}`);
  },
});

const misread = defineTool({
  name: 'misread_answer',
  description: 'Expects another answer than comes',
  input: z.object({ as: z.enum(['schema', 'json']) }),
  output: nothing,
  async handle({ as }) {
    if (as === 'json') await fetchJSON('/api/export');
    return fetchJSONImpl('/api/notes', {}, z.object({ count: z.number() }));
  },
});

const giveUp = defineTool({
  name: 'give_up',
  description: 'Waits for a site that does not answer',
  input: z.object({ by: z.enum(['timeout', 'signal', 'network']) }),
  output: z.object({ reason: z.string() }),
  async handle({ by }) {
    if (by === 'timeout') await fetchFromPage('/api/never', { timeout: 50 });
    if (by === 'network') await fetchJSON('/api/broken');
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('enough')), 20);
    const reason = await fetchText('/api/never', { signal: stop.signal }).catch((e: Error) => e.message);
    return { reason };
  },
});

export const failureTools = [failAs, askStatus, explainStatus, misread, giveUp];
