import { httpStatusToToolError } from './http-error.ts';
import { invalidResponse } from './json.ts';
import { network } from './network.ts';
import type { FormFields } from './query.ts';
import type { StandardSchema } from './schema.ts';
import type { Outgoing } from './scope.ts';
import { lostSession, refuseLoginPage } from './sign-in.ts';
import { type Outcome, ToolError } from './tool-error.ts';

/** What `fetch` takes, and how long to wait. */
export interface FetchOptions extends RequestInit {
  /** In milliseconds, the answer's body included. Default 30 000. */
  readonly timeout?: number;
  /**
   * The ToolError of an answer that is no success, for applications that say more than a status; also of one with a
   * status of success that is no JSON where JSON was asked for, such as a page to sign in on. Undefined leaves it to
   * the status (or to INVALID_RESPONSE). It gets a copy of the answer, so it may read the body.
   */
  readonly explain?: (response: Response) => Promise<ToolError | undefined> | ToolError | undefined;
}

/**
 * `fetch` with the person's session. Throws a ToolError for an answer that is no success, for a broken connection
 * and after the timeout; an aborted signal throws its own reason.
 */
export function fetchFromPage(input: string | URL | Request, options: FetchOptions = {}): Promise<Response> {
  return exchange(input, options, {}, async (response) => response);
}

/** The answer's text. */
export function fetchText(input: string | URL | Request, options: FetchOptions = {}): Promise<string> {
  return exchange(input, options, {}, (response) => network().reply(response).text());
}

/** The answer as JSON, checked against a schema where one is given; undefined when the body is empty. */
export function fetchJSON(input: string | URL | Request, options?: FetchOptions): Promise<unknown>;
export function fetchJSON<Out>(
  input: string | URL | Request,
  options: FetchOptions | undefined,
  schema: StandardSchema<unknown, Out>,
): Promise<Out>;
export function fetchJSON(
  input: string | URL | Request,
  options: FetchOptions = {},
  schema?: StandardSchema,
): Promise<unknown> {
  return exchangeJSON(input, options, schema);
}

/** A request with a JSON body, answered with JSON. */
interface SendJSON {
  (url: string | URL, body: unknown, options?: FetchOptions): Promise<unknown>;
  <Out>(
    url: string | URL,
    body: unknown,
    options: FetchOptions | undefined,
    schema: StandardSchema<unknown, Out>,
  ): Promise<Out>;
}

function sending(method: string): SendJSON {
  return <Out>(
    url: string | URL,
    body: unknown,
    options: FetchOptions = {},
    schema?: StandardSchema<unknown, Out>,
  ) => exchangeJSON(url, { ...options, method }, schema, { body });
}

/** POST with a JSON body. */
export const postJSON: SendJSON = /* @__PURE__ */ sending('POST');
/** PUT with a JSON body. */
export const putJSON: SendJSON = /* @__PURE__ */ sending('PUT');
/** PATCH with a JSON body. */
export const patchJSON: SendJSON = /* @__PURE__ */ sending('PATCH');

/** DELETE, answered with JSON or nothing. */
export const deleteJSON = (
  url: string | URL,
  options: FetchOptions = {},
  schema?: StandardSchema,
): Promise<unknown> => exchangeJSON(url, { ...options, method: 'DELETE' }, schema);

/** POST of a form, URL-encoded. */
export const postForm = (
  url: string | URL,
  fields: FormFields,
  options: FetchOptions = {},
  schema?: StandardSchema,
): Promise<unknown> =>
  exchangeJSON(url, { ...options, method: 'POST', body: network().form(fields) }, schema);

/** POST of a form as multipart, for files. */
export const postFormData = (
  url: string | URL,
  body: FormData,
  options: FetchOptions = {},
  schema?: StandardSchema,
): Promise<unknown> => exchangeJSON(url, { ...options, method: 'POST', body }, schema);

function exchangeJSON(
  input: string | URL | Request,
  options: FetchOptions,
  schema: StandardSchema | undefined,
  json?: { readonly body: unknown },
): Promise<unknown> {
  const type = 'application/json';
  const headers: Record<string, string> = { accept: type, ...(json && { 'content-type': type }) };
  return exchange(input, options, { headers, json }, async (response, { method }) => {
    const value = await readJSON(response, { ...options, method });
    return schema ? checked(value, schema) : value;
  });
}

/** What a request has besides what the caller asked for. */
interface Added {
  /** Where the caller named none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Its body is JSON. */
  readonly json?: { readonly body: unknown } | undefined;
}

type Read<T> = (response: Response, request: Outgoing) => Promise<T>;

/** One request and its answer, read to the end: the timeout and every failure on the way become one ToolError. */
const exchange = <T>(
  input: string | URL | Request,
  options: FetchOptions,
  added: Added,
  read: Read<T>,
): Promise<T> => network().keep(sendAndRead(input, options, added, read));

async function sendAndRead<T>(
  input: string | URL | Request,
  { timeout = 30_000, explain, ...init }: FetchOptions,
  added: Added,
  read: Read<T>,
): Promise<T> {
  const { keep, reply } = network();
  const request = prepare(input, init, added, timeout);
  request.throwIfAborted();
  try {
    refuseTaken('not_executed');
    const response = await keep(request.send());
    refuseTaken(unseen(request.method));
    const answer = reply(response);
    if (!answer.ok) throw (await explain?.(answer.copy())) ?? (await httpStatusToToolError(response));
    await keep(refuseLoginPage(answer, unseen(request.method)));
    return await keep(read(response, request));
  } catch (error) {
    request.throwIfAborted(); // The caller's own reason goes first: it says who ended the call.
    if (error instanceof ToolError) throw error;
    if (request.expired())
      throw lost(`${request.url} did not answer within ${timeout / 1000} s`, 'TIMEOUT', 'timeout');
    throw lost(`${request.url} could not be reached: ${reason(error)}`, 'NETWORK_ERROR', 'internal');
  }
}

function prepare(
  input: string | URL | Request,
  init: RequestInit,
  { headers = {}, json }: Added,
  timeoutMs: number,
): Outgoing {
  const { open, stringify } = network();
  try {
    const body = json && stringify(json.body);
    return open(input, body === undefined ? init : { ...init, body }, headers, timeoutMs);
  } catch (error) {
    throw new ToolError(`This request cannot be sent: ${reason(error)}`, 'VALIDATION_ERROR', {
      category: 'validation',
      outcome: 'not_executed',
    });
  }
}

/** Fails where the page could take the answer and give another one in its place. */
function refuseTaken(outcome: Outcome | undefined): void {
  if (!network().answersAreTaken()) return;
  const message = 'The page has put a `then` on all data, which could replace what the site answers';
  throw new ToolError(message, 'INVALID_OUTPUT', { category: 'internal', outcome });
}

// Nobody knows what a site did whose answer to a write was not understood. A page may have made RegExp its own.
const unseen = (method: string): Outcome | undefined =>
  method === 'GET' || method === 'HEAD' || method === 'get' || method === 'head' ? undefined : 'unknown';

/** Nobody knows what the site did with the request. */
const lost = (message: string, code: string, category: 'timeout' | 'internal'): ToolError =>
  new ToolError(message, code, { category, retryable: true, outcome: 'unknown' });

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * The body of a successful answer as JSON; undefined when it is empty. Fails like fetchJSON, for code that needs more
 * of the answer. `method` is that of the request.
 */
export function readJSON(
  response: Response,
  options: Pick<FetchOptions, 'explain' | 'method'> = {},
): Promise<unknown> {
  return network().keep(jsonOf(response, options));
}

async function jsonOf(
  response: Response,
  { method = 'GET', explain }: Pick<FetchOptions, 'explain' | 'method'>,
): Promise<unknown> {
  const { keep, parse, reply } = network();
  const answer = reply(response);
  const copy = answer.copy();
  const text = await keep(answer.text());
  try {
    const value = parse(text);
    refuseTaken(unseen(method));
    return value;
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const kind = answer.header('content-type') ?? 'something else';
    const problem = `${answer.url} answered with ${kind} in place of JSON`;
    const outcome = unseen(method);
    throw (await explain?.(copy)) ?? lostSession(text, outcome) ?? invalidResponse(problem, outcome);
  }
}

async function checked<Out>(value: unknown, schema: StandardSchema<unknown, Out>): Promise<Out> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  const [first] = result.issues;
  const path = first?.path?.map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
  throw invalidResponse(`${path ? `${path}: ` : ''}${first?.message ?? 'invalid'}`);
}
