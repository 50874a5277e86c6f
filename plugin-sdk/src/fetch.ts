import { httpStatusToToolError } from './http-error.ts';
import { invalidResponse } from './json.ts';
import { sendPast } from './past-policy.ts';
import { type FormFields, urlEncoded } from './query.ts';
import type { StandardSchema } from './schema.ts';
import { lostSession, refuseLoginPage } from './sign-in.ts';
import { ToolError } from './tool-error.ts';

/** What `fetch` takes, and how long to wait. */
export interface FetchOptions extends RequestInit {
  /** In milliseconds, the answer's body included. Default 30 000. */
  readonly timeout?: number;
  /**
   * The ToolError of an answer that is no success, for applications that say more than a status; also of one with a status
   * of success that is no JSON where JSON was asked for, such as a page to sign in on. Undefined leaves it to the status
   * (or to INVALID_RESPONSE). It gets a copy of the answer, so it may read the body.
   */
  readonly explain?: (response: Response) => Promise<ToolError | undefined> | ToolError | undefined;
}

/**
 * `fetch` with the person's session. Throws a ToolError for an answer that is no success, for a broken connection
 * and after the timeout; an aborted signal throws its own reason.
 */
export function fetchFromPage(input: string | URL | Request, options: FetchOptions = {}): Promise<Response> {
  return exchange(input, options, (response) => response);
}

/** The answer's text. */
export function fetchText(input: string | URL | Request, options: FetchOptions = {}): Promise<string> {
  return exchange(input, options, (response) => response.text());
}

/** The answer as JSON, checked against a schema where one is given; undefined when the body is empty. */
export function fetchJSON(input: string | URL | Request, options?: FetchOptions): Promise<unknown>;
export function fetchJSON<Out>(
  input: string | URL | Request,
  options: FetchOptions | undefined,
  schema: StandardSchema<unknown, Out>,
): Promise<Out>;
export async function fetchJSON(
  input: string | URL | Request,
  { headers, ...options }: FetchOptions = {},
  schema?: StandardSchema,
): Promise<unknown> {
  const accepting = new Headers(headers ?? (input instanceof Request ? input.headers : undefined));
  if (!accepting.has('accept')) accepting.set('accept', 'application/json');
  const read = (response: Response, { method }: Request) => readJSON(response, { method, ...options });
  const value = await exchange(input, { ...options, headers: accepting }, read);
  return schema ? checked(value, schema) : value;
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
  ) => {
    const headers = new Headers(options.headers);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    const request = { ...options, method, headers, body: JSON.stringify(body) };
    return schema ? fetchJSON(url, request, schema) : fetchJSON(url, request);
  };
}

/** POST with a JSON body. */
export const postJSON: SendJSON = /* @__PURE__ */ sending('POST');
/** PUT with a JSON body. */
export const putJSON: SendJSON = /* @__PURE__ */ sending('PUT');
/** PATCH with a JSON body. */
export const patchJSON: SendJSON = /* @__PURE__ */ sending('PATCH');

const read = <Out>(
  url: string | URL,
  options: FetchOptions,
  schema: StandardSchema<unknown, Out> | undefined,
): Promise<unknown> => (schema ? fetchJSON(url, options, schema) : fetchJSON(url, options));

/** DELETE, answered with JSON or nothing. */
export const deleteJSON = (
  url: string | URL,
  options: FetchOptions = {},
  schema?: StandardSchema,
): Promise<unknown> => read(url, { ...options, method: 'DELETE' }, schema);

/** POST of a form, URL-encoded. */
export const postForm = (
  url: string | URL,
  fields: FormFields,
  options: FetchOptions = {},
  schema?: StandardSchema,
): Promise<unknown> => read(url, { ...options, method: 'POST', body: urlEncoded(fields) }, schema);

/** POST of a form as multipart, for files. */
export const postFormData = (
  url: string | URL,
  body: FormData,
  options: FetchOptions = {},
  schema?: StandardSchema,
): Promise<unknown> => read(url, { ...options, method: 'POST', body }, schema);

/** One request and its answer, read to the end: the timeout and every failure on the way become one ToolError. */
async function exchange<T>(
  input: string | URL | Request,
  { timeout = 30_000, explain, ...init }: FetchOptions,
  read: (response: Response, request: Request) => T | Promise<T>,
): Promise<T> {
  const request = prepare(input, init);
  request.signal.throwIfAborted();
  const clock = AbortSignal.timeout(timeout);
  try {
    const signal = AbortSignal.any([request.signal, clock]);
    const response = await sendPast(request, (sent) => fetch(sent, { signal }), signal);
    if (!response.ok) {
      throw (await explain?.(response.clone())) ?? (await httpStatusToToolError(response));
    }
    await refuseLoginPage(response);
    return await read(response, request);
  } catch (error) {
    request.signal.throwIfAborted(); // The caller's own reason goes first: it says who ended the call.
    if (error instanceof ToolError) throw error;
    if (clock.aborted)
      throw lost(`${request.url} did not answer within ${timeout / 1000} s`, 'TIMEOUT', 'timeout');
    throw lost(`${request.url} could not be reached: ${reason(error)}`, 'NETWORK_ERROR', 'internal');
  }
}

function prepare(input: string | URL | Request, init: RequestInit): Request {
  try {
    return new Request(input, { credentials: 'include', ...init });
  } catch (error) {
    throw new ToolError(`This request cannot be sent: ${reason(error)}`, 'VALIDATION_ERROR', {
      category: 'validation',
      outcome: 'not_executed',
    });
  }
}

/** Nobody knows what the site did with the request. */
const lost = (message: string, code: string, category: 'timeout' | 'internal'): ToolError =>
  new ToolError(message, code, { category, retryable: true, outcome: 'unknown' });

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * The body of a successful answer as JSON; undefined when it is empty. Fails like fetchJSON, for code that needs more of the
 * answer. `method` is that of the request.
 */
export async function readJSON(
  response: Response,
  { method = 'GET', explain }: Pick<FetchOptions, 'explain' | 'method'> = {},
): Promise<unknown> {
  const copy = response.clone();
  const text = await response.text();
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    const kind = response.headers.get('content-type') ?? 'something else';
    // Nobody knows what a site did that answers a write with something else.
    const outcome = method === 'GET' ? undefined : 'unknown';
    throw (
      (await explain?.(copy)) ??
      lostSession(text) ??
      invalidResponse(`${response.url} answered with ${kind} in place of JSON`, outcome)
    );
  }
}

async function checked<Out>(value: unknown, schema: StandardSchema<unknown, Out>): Promise<Out> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  const [first] = result.issues;
  const path = first?.path?.map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
  throw invalidResponse(`${path ? `${path}: ` : ''}${first?.message ?? 'invalid'}`);
}
