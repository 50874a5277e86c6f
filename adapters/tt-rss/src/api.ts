// Calls the reader as its own script does: a form to backend.php, which names a handler and a method of it.

import {
  buildQueryString,
  type FormFields,
  fetchText,
  type Outcome,
  ToolError,
  withFreshToken,
} from '@tabrelay/plugin-sdk';
import { isObject, type JsonReader, jsonReader, parseJSON } from '@tabrelay/plugin-sdk/json';
import { denied, failure, siteError, unauthorized } from './failures.ts';
import { base, forgetToken, token } from './session.ts';

/** What is asked, such as `Feeds.view`. */
export type Method = `${string}.${string}`;

interface Options {
  signal: AbortSignal;
  /** How long it may take, in milliseconds. */
  timeout?: number;
}

const tokenRefused = 'TOKEN_REFUSED';

/** A read that is answered with JSON. */
export const ask = (method: Method, fields: FormFields, signal: AbortSignal): Promise<JsonReader> =>
  answered(method, fields, undefined, { signal });

/** A change that is answered with JSON. */
export const act = (method: Method, fields: FormFields, options: Options): Promise<JsonReader> =>
  answered(method, fields, 'unknown', options);

/** A change that is answered with nothing: whatever else comes is an error. */
export async function order(
  method: Method,
  fields: FormFields,
  signal: AbortSignal,
): Promise<void> {
  const said = await send(method, fields, { signal });
  if (said.trim() !== '') throw siteError(said, 'unknown');
}

async function answered(
  method: Method,
  fields: FormFields,
  outcome: Outcome | undefined,
  options: Options,
): Promise<JsonReader> {
  const text = await send(method, fields, options);
  const value = parseJSON(text);
  if (value === undefined) throw siteError(text, outcome);
  return jsonReader(value, outcome);
}

/** The answer's text. A token that is not taken is asked for anew once: nothing was done before that. */
export async function send(method: Method, fields: FormFields, options: Options): Promise<string> {
  const [handler, name] = method.split('.');
  const get = () => token(options.signal);
  try {
    return await withFreshToken({ get, forget: forgetToken, isRefused }, async (proof) => {
      const form = buildQueryString({ op: handler, method: name, ...fields, csrf_token: proof });
      const body = new URLSearchParams(form);
      const sent = { method: 'POST', body, explain: signedOutIn500, ...options };
      const text = await fetchText(new URL('backend.php', base()), sent);
      refuseError(text);
      return text;
    });
  } catch (error) {
    throw isRefused(error) ? denied() : error;
  }
}

/**
 * On PHP 8 the reader breaks where nobody is signed in, while it compares tokens: nothing was done then. With a session
 * a 500 is what it seems.
 */
async function signedOutIn500({ status }: Response): Promise<ToolError | undefined> {
  if (status !== 500) return undefined;
  forgetToken();
  try {
    await token();
  } catch (error) {
    if (error instanceof ToolError && error.category === 'auth') return error;
  }
  return undefined;
}

const isRefused = (error: unknown): boolean =>
  error instanceof ToolError && error.code === tokenRefused;

/** Fails where the answer is an error with a number; 0 is none. */
function refuseError(text: string): void {
  const value = text.startsWith('{"error"') ? parseJSON(text) : undefined;
  const error = isObject(value) ? value.error : undefined;
  if (!isObject(error) || typeof error.code !== 'number' || error.code === 0) return;
  const said = typeof error.message === 'string' ? error.message : '';
  throw error.code === unauthorized
    ? ToolError.auth(said, tokenRefused)
    : failure(error.code, said);
}

/** A number. Where the reader runs on an older PHP, those of its database are texts. */
export const numberIn = (from: JsonReader): number =>
  typeof from.value === 'string' && /^-?\d+$/.test(from.value) ? Number(from.value) : from.number();
