import { fetchText, ToolError } from '@tabrelay/plugin-sdk';
import { parseHTML } from '@tabrelay/plugin-sdk/html';
import { isObject, parseJSON } from '@tabrelay/plugin-sdk/json';

export function present(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw ToolError.auth('The page has no token for this request: ask the person to open it and to sign in');
}

/** The attribute of a tag of a page, as it is now. */
export async function fromTag(
  page: string,
  selector: string,
  attribute: string,
  signal: AbortSignal,
): Promise<string> {
  const html = parseHTML(await fetchText(page, { signal }));
  return present(html.querySelector(selector)?.getAttribute(attribute));
}

export const fromMeta = (page: string, name: string, signal: AbortSignal) =>
  fromTag(page, `meta[name="${CSS.escape(name)}"], meta[property="${CSS.escape(name)}"]`, 'content', signal);

export const fromField = (page: string, name: string, signal: AbortSignal) =>
  fromTag(page, `input[name="${CSS.escape(name)}"]`, 'value', signal);

/** The text of a script of a page, as it is now: what stands after some other text, up to the next quotation mark. */
export async function fromScript(page: string, after: string, signal: AbortSignal): Promise<string> {
  const html = await fetchText(page, { signal });
  const start = html.indexOf(after);
  const end = html.indexOf(after.slice(-1), start + after.length);
  return present(start < 0 || end < 0 ? undefined : html.slice(start + after.length, end));
}

/** A field of what the site answers as JSON. */
export async function fromAnswer(
  address: string,
  path: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  return present(within(parseJSON(await fetchText(address, { signal })), path));
}

/** An entry of a storage, or a field of the JSON in it. */
export function stored(entry: string | null, path: readonly string[]): string {
  return present(path.length === 0 || entry === null ? entry : within(parseJSON(entry), path));
}

export function within(value: unknown, path: readonly string[]): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  return isObject(value) ? within(value[step], rest) : undefined;
}
