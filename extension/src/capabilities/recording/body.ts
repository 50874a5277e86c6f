// What of a request's body is recorded, and what in it may be a token.
import { isRecord } from '../../shared/guards.ts';

const bodyChars = 256 * 1024; // of one request

/** What is called like a token. */
export const tokenName =
  /csrf|xsrf|nonce|token|authenticity|session|secret|sectok|auth|key|__requestverification/i;

interface Body {
  form?: Record<string, unknown>;
  body?: string;
  file?: boolean;
}

/** A body as it is recorded; file: it is an upload, or too large. */
export function bodyOf(sent: chrome.webRequest.OnBeforeRequestDetails['requestBody']): Body {
  if (!sent) return {};
  if (sent.formData) return { form: sent.formData };
  const parts = sent.raw ?? [];
  if (parts.some(({ file }) => file !== undefined)) return { file: true };
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    const text =
      parts.map(({ bytes }) => decoder.decode(bytes, { stream: true })).join('') + decoder.decode();
    return text.length > bodyChars ? { file: true } : { body: text };
  } catch {
    return { file: true }; // it is no text
  }
}

/** What in a request's body is called like a token. */
export function tokensOf({ form, body }: Body): string[] {
  const found: string[] = [];
  const add = (name: string, value: unknown) => {
    const one: unknown = Array.isArray(value) ? value[0] : value;
    if (tokenName.test(name) && typeof one === 'string' && one.length <= 8192) found.push(one);
  };
  for (const [name, value] of Object.entries(form ?? {})) add(name, value);
  if (body?.startsWith('{')) {
    try {
      const fields: unknown = JSON.parse(body);
      if (isRecord(fields)) for (const [name, value] of Object.entries(fields)) add(name, value);
    } catch {
      // It only looked like JSON.
    }
  } else if (body !== undefined && /^[^\s{[]+=/.test(body)) {
    for (const [name, value] of new URLSearchParams(body)) add(name, value);
  }
  return found;
}
