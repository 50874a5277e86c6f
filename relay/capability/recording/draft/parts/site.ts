// How the tools speak to the site. The SDK's requests have the person's session, and turn 401 and 403 into AUTH_ERROR,
// 404 into NOT_FOUND, 422 into VALIDATION_ERROR, 429 into RATE_LIMITED with the site's Retry-After, and so on.
import { buildQueryString, type FormFields, fetchFromPage, fetchText, ToolError } from '@tabrelay/plugin-sdk';
import { htmlToText, parseHTML } from '@tabrelay/plugin-sdk/html';
import { isObject, parseJSON } from '@tabrelay/plugin-sdk/json';
import { textPage } from '@tabrelay/plugin-sdk/paging';

interface Ask {
  query?: FormFields;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a form, URL-encoded. */
  form?: FormFields;
  /** Sent as a form, as multipart. */
  multipart?: FormFields;
  headers?: Record<string, string>;
  signal: AbortSignal;
}

/** One request; answers the text that came. */
export async function askText(method: string, path: string, ask: Ask): Promise<string> {
  const { query = {}, json, form, multipart, headers = {}, signal } = ask;
  const search = buildQueryString(query);
  const init: RequestInit = { method, signal };
  const sent: Record<string, string> = { accept: 'application/json, text/html;q=0.9, */*;q=0.5', ...headers };
  if (json !== undefined) {
    sent['content-type'] = 'application/json';
    init.body = JSON.stringify(json);
  } else if (form !== undefined) {
    sent['content-type'] = 'application/x-www-form-urlencoded';
    init.body = buildQueryString(form);
  } else if (multipart !== undefined) {
    const data = new FormData();
    for (const [name, value] of new URLSearchParams(buildQueryString(multipart))) data.append(name, value);
    init.body = data;
  }
  const address = search === '' ? path : `${path}?${search}`;
  const response = await fetchFromPage(address, { ...init, headers: sent, explain });
  return response.text();
}

/** One request; answers the JSON that came. */
export async function askJSON(method: string, path: string, ask: Ask): Promise<unknown> {
  const value = parseJSON(await askText(method, path, ask));
  // GraphQL says with status 200 that it failed.
  if (isObject(value) && value.data === undefined && Array.isArray(value.errors) && value.errors.length > 0)
    throw ToolError.validation(messageOf(value.errors[0]) ?? 'The site refused it');
  return value;
}

/** What the site says about a failure, where its status alone says too little. */
async function explain(response: Response): Promise<ToolError | undefined> {
  if (response.status !== 409 && response.status !== 422) return undefined;
  const text = await response.text();
  let message: string | undefined;
  try {
    message = messageOf(JSON.parse(text));
  } catch {
    // It is no JSON.
  }
  if (response.status === 422)
    return ToolError.validation(message ?? 'The site takes these values for invalid');
  return new ToolError(message ?? 'It was changed meanwhile, or is there already', 'CONFLICT', {
    category: 'validation',
    outcome: 'not_executed',
  });
}

function messageOf(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const said = value.message ?? value.error ?? value.detail ?? value.title;
  return typeof said === 'string' ? said : messageOf(said);
}

/** One segment of a path. Dots alone would lead elsewhere. */
export function segment(value: string | number): string {
  const text = String(value);
  if (text === '' || text === '.' || text === '..')
    throw ToolError.validation(`"${text}" cannot be part of an address`);
  return encodeURIComponent(text);
}

/** A page as text, from offset on. */
export function pageText(
  html: string,
  part: { offset: number; maxChars: number; maxBytes: number | undefined },
) {
  const page = parseHTML(html);
  const main = page.querySelector('main, [role=main], #content, #main') ?? page.body;
  return textPage(htmlToText(main), part, (answer) => ({ title: page.title, ...answer }));
}

interface Submit {
  /** Where the form is. */
  page: string;
  action: string;
  query?: FormFields;
  fields: FormFields;
  signal: AbortSignal;
}

/** Fills in a form as its page has it now, and sends it. Answers the page that comes of it. */
export async function submitForm({ page, action, query = {}, fields, signal }: Submit): Promise<string> {
  const from = new URL(page, location.href);
  const shown = parseHTML(await fetchText(from.href, { signal }));
  const target = new URL(action, from);
  const forms = Array.from(shown.forms).filter(
    (one) =>
      new URL(one.getAttribute('action') ?? '', from).pathname === target.pathname && one.method === 'post',
  );
  // A page may have several forms for one address, as a search beside an editor: the one with these fields is meant.
  const has = (one: HTMLFormElement) =>
    Object.keys(fields).filter((name) => one.elements.namedItem(name) !== null).length;
  const [form] = forms.sort((a, b) => has(b) - has(a));
  if (form === undefined) throw ToolError.notFound(`The page ${page} has no form for ${action}`);
  const sent = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') sent.append(name, value);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    sent.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) sent.append(name, String(one));
  }
  const search = buildQueryString(query);
  const address = search === '' ? action : `${action}?${search}`;
  const response = await fetchFromPage(address, { method: 'POST', body: sent, signal, explain });
  return response.text();
}
