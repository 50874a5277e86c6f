// What of a text is nobody's business: credentials, by the names before them and by their form. relay/road/fault does the
// same with the same words; relay/road/fault/testdata/redact.json has what both make of a text.
import { secretNames } from './secretnames.generated.ts';

const hidden = '[redacted]';

const setOf = (name: string): ReadonlySet<string> => new Set(secretNames[name] ?? []);
const words = {
  word: setOf('words'),
  data: setOf('data'),
  whole: setOf('whole'),
  loose: setOf('loose'),
  lines: setOf('lines'),
  aboutFirst: setOf('aboutFirst'),
  aboutLast: setOf('aboutLast'),
  stay: setOf('stay'),
  literals: setOf('literals'),
  schemes: setOf('schemes'),
  inner: setOf('inner'),
  naming: setOf('naming'),
  valued: setOf('valued'),
};
const parts = secretNames.parts ?? [];
const ends = secretNames.ends ?? [];
const phrases = secretNames.phrases ?? [];
const harmless = secretNames.harmless ?? [];
const shapes = (secretNames.shapes ?? []).map((shape) => new RegExp(shape, 'g'));
const mixedShapes = (secretNames.mixedShapes ?? []).map((shape) => new RegExp(shape, 'g'));

/** Where the value of a name is a credential. */
const never = 0;
const inAddress = 1; // "code": only in the query of an address, or where the value looks generated
const inData = 2; // "auth": in data, not in a sentence
const always = 3;

const longestName = 80;

/** The words of a name: accessToken, access_token. A number at the end of a word is none of it. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2 ')
    .replace(/[^A-Za-z0-9\u0080-\uffff]/g, ' ')
    .toLowerCase()
    .replaceAll('\u017f', 's')
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/[0-9]+$/, '') || word);
}

const known = new Map<string, number>(); // what was found out about names
const mostKnown = 5000;

function secrecyOf(name: string): number {
  if (name.length < 2 || name.length > longestName) return never;
  const before = known.get(name);
  if (before !== undefined) return before;
  if (known.size >= mostKnown) known.clear();
  const found = judgedName(name);
  known.set(name, found);
  return found;
}

function judgedName(name: string): number {
  const list = wordsOf(name);
  const first = list[0] ?? '';
  const last = list.at(-1) ?? '';
  if (last === '') return never;
  const whole = list.join(' ');
  if (words.whole.has(whole)) return inData;
  const has = (phrase: string) => ` ${whole} `.includes(` ${phrase} `);
  if (list.length > 1 && (words.aboutFirst.has(first) || words.aboutLast.has(last) || harmless.some(has)))
    return never;
  let found = never;
  for (const [i, one] of list.entries()) {
    const isSecret =
      words.word.has(one) ||
      parts.some((part) => one.includes(part)) ||
      ends.some((end) => one.endsWith(end));
    if (isSecret) return always;
    const next = list[i + 1];
    if (words.data.has(one) && (next === undefined || words.valued.has(next))) found = inData;
    else if (words.loose.has(one) && list.length === 1) found = Math.max(found, inAddress);
  }
  return phrases.some(has) ? always : found;
}

// A name without the escapes of addresses.
function unescaped(name: string): string {
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}

/** Whether a value of this name is a credential, whatever it is. */
export const isSecretName = (name: string): boolean => secrecyOf(unescaped(name)) >= inData;

/** Whether a text has what reads like a credential by its form. */
export const isSecretText = (text: string): boolean => withoutShapes(text) !== text;

/** What is said of a value that is not told. */
export const masked = (text: string): string => `•••• (${text.length} characters)`;

function withoutShapes(text: string): string {
  let out = text;
  for (const shape of shapes)
    out = out.replace(
      shape,
      (_, before: string, after: unknown) => before + hidden + (typeof after === 'string' ? after : ''),
    );
  for (const shape of mixedShapes)
    out = out.replace(shape, (found, before: string) => {
      const value = found.slice(before.length);
      const stays = words.stay.has(value.toLowerCase()) || (!/^bearer/i.test(before) && !isMixed(value));
      return stays ? found : before + hidden;
    });
  return out;
}

// What no person writes: digits, or a capital behind a small letter.
const isMixed = (value: string): boolean => /[0-9=]|[a-z][A-Z]/.test(value);

const isGenerated = (value: string, least: number): boolean =>
  value.length >= least &&
  /^[A-Za-z0-9_.~+/=%-]+$/.test(value) &&
  /[0-9]/.test(value) &&
  /[A-Za-z]/.test(value);

// A value that was left out before, as dots in its place.
const leftOut = /^•+(?:[\s"'`<,;.)\]}&]|$)/;

/** A place in a text where a value follows a name. */
interface Assigned {
  name: string;
  last: string; // the last of its words
  quote: string; // what stands around the name: a quotation mark, behind as many backslashes
  equals: boolean;
  tag: boolean;
  query: boolean; // it is a parameter of an address or of a form
  from: number; // where the value begins, before spaces
  level: number;
}

interface Change {
  start: number;
  end: number;
  by: string;
}

const isQuote = (c: string): boolean => c === '"' || c === "'" || c === '`';
const isSpace = (c: string): boolean => c === ' ' || c === '\t';
const ofName = /[A-Za-z0-9_\-.$[\]%@\u0080-\uffff]/;
const ofWord = /[A-Za-z0-9-]/;

class Scan {
  readonly #text: string;
  readonly #form: boolean; // all of it is a form's body
  #inner = 0; // until here: within an object that has the name of a credential
  #named = 0; // until here: a member that is called value has a credential, as the one before it says

  constructor(text: string) {
    this.#text = text;
    this.#form = /^[^=& \t\r\n"'{}<>:]+=[^ \t\r\n"'{}<>]*$/.test(text) && text.includes('&');
  }

  /** The assignment whose sign stands at i. */
  at(i: number): Assigned | undefined {
    const t = this.#text;
    const sign = t[i];
    const next = t[i + 1];
    let from = i + 1;
    let equals = false;
    if (sign === ':') {
      if (next === '/' && t[i + 2] === '/') return undefined;
      if (next === '=') {
        from = i + 2;
        equals = true;
      }
    } else if (sign === '=') {
      if (next === '=' || (i > 0 && '=!<>'.includes(t[i - 1] ?? ' '))) return undefined;
      equals = true;
      if (next === '>') from = i + 2;
    }
    let end = i;
    while (end > 0 && i - end < 3 && isSpace(t[end - 1] ?? '')) end--;
    let quote = '';
    if (end > 0 && isQuote(t[end - 1] ?? '')) {
      quote = t[end - 1] ?? '';
      for (end--; end > 0 && t[end - 1] === '\\'; end--) quote = `\\${quote}`;
    }
    let start = end;
    const isOfName = (c: string) => ofName.test(c) || (quote !== '' && c === ' ');
    while (start > 0 && end - start <= longestName && isOfName(t[start - 1] ?? '')) start--;
    if (start === end || end - start > longestName) return undefined;
    if (quote !== '' && !t.slice(0, start).endsWith(quote)) return undefined;
    const tag = sign === '>';
    if (tag && (t[start - 1] !== '<' || end !== i)) return undefined;
    const query =
      equals &&
      quote === '' &&
      ((start > 0 && '?&#'.includes(t[start - 1] ?? ' ')) || (start === 0 && this.#form));
    const name = unescaped(t.slice(start, end));
    const last = wordsOf(name).at(-1) ?? '';
    return this.#judged({ name, last, quote, equals, tag, query, from, level: secrecyOf(name) }, start);
  }

  // In a sentence a name may have several words.
  #judged(a: Assigned, from: number): Assigned {
    let start = from;
    if (a.quote === '' && !a.query && !a.tag) {
      let phrase = a.name;
      for (let i = 0; i < 2; i++) {
        const before = this.#wordBefore(start);
        if (before === '') break;
        start -= before.length + 1;
        phrase = `${before} ${phrase}`;
        if (words.aboutFirst.has(before.toLowerCase()) && a.level > never) {
          a.level = never;
          break;
        }
        if (a.level < always && secrecyOf(phrase) === always) {
          a.level = always;
          a.name = phrase;
        }
      }
    }
    if (a.level < always && this.#named > a.from && words.valued.has(a.last)) {
      a.level = always;
      this.#named = 0;
    }
    return a;
  }

  // The word before a position, with one space between.
  #wordBefore(at: number): string {
    const t = this.#text;
    if (at === 0 || t[at - 1] !== ' ') return '';
    let from = at - 1;
    while (from > 0 && at - from < 24 && ofWord.test(t[from - 1] ?? '')) from--;
    return t.slice(from, at - 1);
  }

  /** What stands where the value begins, and what is to stand there; undefined where it stays. */
  value(a: Assigned): Change | undefined {
    const t = this.#text;
    let at = a.from;
    while (!a.query && !a.tag && at - a.from < 3 && isSpace(t[at] ?? '')) at++;
    if (leftOut.test(t.slice(at, at + 100))) return undefined;
    let slashes = 0;
    while (t[at + slashes] === '\\') slashes++;
    const inner = this.#inner > a.from;
    const c = t[at + slashes] ?? '';
    if (isQuote(c) && !a.query && !a.tag) {
      const start = at + slashes + 1;
      const { end, closed } = closing(t, start, c, slashes);
      const value = t.slice(start, end);
      if (closed && this.#names(a, value)) return part(t, end + slashes + 1);
      return hides(a, value, true, inner) ? { start, end, by: hidden } : undefined;
    }
    if (c === '{' && slashes === 0) {
      if (a.level >= inData) this.#inner = Math.max(this.#inner, bracket(t, at, '{', '}'));
      return undefined;
    }
    if (c === '[' && slashes === 0 && !a.query && a.level === always) {
      const end = bracket(t, at, '[', ']');
      const inside = t.slice(at, end).replace(/^[[\] \t\r\n]+|[[\] \t\r\n]+$/g, '');
      if (inside === '' || inside === 'redacted') return undefined;
      return { start: at, end, by: a.quote + hidden + a.quote };
    }
    return bare(t, a, at, inner);
  }

  // A member can say what the next one is: {"name": "password", "value": "…"}, and the same in a form of several parts.
  #names(a: Assigned, value: string): boolean {
    const isNaming = wordsOf(a.name).length === 1 && words.naming.has(a.last);
    if (!isNaming || secrecyOf(unescaped(value)) < inData) return false;
    const rest = this.#text.slice(a.from, a.from + 200).search(/[}>]/);
    this.#named = a.from + (rest < 0 ? 200 : rest);
    return a.equals;
  }
}

// The value of a part of a form, where one begins two lines behind the name.
function part(t: string, at: number): Change | undefined {
  const gap = ['\r\n\r\n', '\n\n', '\\r\\n\\r\\n'].find((one) => t.startsWith(one, at));
  if (gap === undefined) return undefined;
  const start = at + gap.length;
  const end = until(t, start, /[\r\n\\]/g);
  return end > start ? { start, end, by: hidden } : undefined;
}

// A value that no quotation marks stand around.
function bare(t: string, a: Assigned, from: number, inner: boolean): Change | undefined {
  let at = from;
  if (a.level === always && !a.query) {
    if (a.last === 'cookie') {
      const end = until(t, at, /[\r\n"'`]/g);
      if (t.slice(at, end).includes('=')) return { start: at, end, by: hidden };
    } else if (a.last === 'authorization') {
      const end = until(t, at, /[ \t\r\n"'`,;]/g);
      if (words.schemes.has(t.slice(at, end).toLowerCase()) && t[end] === ' ') {
        at = end + 1;
        a.equals = true; // a word that follows is the value
      }
    } else if (words.lines.has(a.last)) {
      const end = until(t, at, /[\r\n"'`<>{}&,]/g);
      const line = t.slice(at, end);
      if (line === '' || words.stay.has(/^[^ \t]*/.exec(line)?.[0].toLowerCase() ?? '')) return undefined;
      return { start: at, end, by: hidden };
    }
  }
  let end = until(t, at, a.query ? /[ \t\r\n"'`<>&#]/g : a.tag ? /</g : /[ \t\r\n"'`<>,;&)\]}]/g);
  if (!a.query && t.startsWith(hidden, at)) return undefined;
  const slash = t.indexOf('\\', at);
  if (slash >= 0 && slash < end && !a.tag && /[nrt"'`\\]/.test(t[slash + 1] ?? '')) end = slash;
  const value = t.slice(at, end);
  if (value === '' || !hides(a, value, false, inner) || value.endsWith(':')) return undefined;
  return { start: at, end, by: a.quote + hidden + a.quote };
}

// Whether the value of such a name is not told.
function hides(a: Assigned, value: string, quoted: boolean, inner: boolean): boolean {
  const lower = value
    .trim()
    .replace(/[.!?]+$/, '')
    .toLowerCase();
  if (lower === '' || lower === hidden || a.last === '') return false;
  const numeric = /^[0-9.,\-+ ]+$/.test(lower);
  if (inner && (words.inner.has(a.last) || isGenerated(value, 8)))
    return !numeric && !words.literals.has(lower);
  if (a.level === never) return false;
  if (a.level === inAddress && !a.query) return (quoted || a.equals) && isGenerated(value, 16);
  if (a.query) return true;
  if (words.literals.has(lower) || (a.last === 'tokens' && numeric)) return false;
  if (a.level === always) return quoted || a.equals || a.tag || a.quote !== '' || !words.stay.has(lower);
  const data = a.quote !== '' || a.equals || quoted || a.tag || isGenerated(value, 16);
  return data && !numeric && !words.stay.has(lower) && !/[ \t\n]/.test(lower);
}

// Where a text in quotation marks ends that stand behind as many backslashes: at the latest with its line.
function closing(t: string, from: number, quote: string, slashes: number): { end: number; closed: boolean } {
  let run = 0;
  for (let i = from; i < t.length; i++) {
    const c = t[i] ?? '';
    if (c === '\\') {
      run++;
      continue;
    }
    if (c === '\n' || c === '\r') return { end: i, closed: false };
    if (c === quote && (slashes === 0 ? run % 2 === 0 : run === slashes))
      return { end: i - slashes, closed: true };
    run = 0;
  }
  return { end: t.length, closed: false };
}

const longestBracket = 10_000;

// Where a text ends that begins with an opening bracket.
function bracket(t: string, from: number, opens: string, closes: string): number {
  const most = Math.min(t.length, from + longestBracket);
  let deep = 0;
  for (let i = from; i < most; i++) {
    if (t[i] === opens) deep++;
    else if (t[i] === closes && --deep === 0) return i + 1;
  }
  return most;
}

function until(t: string, from: number, stop: RegExp): number {
  stop.lastIndex = from;
  return stop.exec(t)?.index ?? t.length;
}

const signs = /[:=>]/g;

function withoutAssigned(text: string): string {
  const scan = new Scan(text);
  let out = '';
  let done = 0;
  for (let i = until(text, 0, signs); i < text.length; i = until(text, i + 1, signs)) {
    const a = scan.at(i);
    if (a === undefined) continue;
    i = a.from - 1;
    const change = scan.value(a);
    if (change === undefined) continue;
    out += text.slice(done, change.start) + change.by;
    done = change.end;
    i = change.end - 1;
  }
  return out + text.slice(done);
}

/** A text without credentials: a sentence, a console's line, JSON, a header, an address, a form. */
export const redact = (text: string): string => withoutAssigned(withoutShapes(text));

/** The value of a header, without credentials. */
export const redactHeader = (name: string, value: string): string =>
  isSecretName(name) ? hidden : redact(value);

/** Data without credentials: what has the name of one, and the texts in it. */
export function redactValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null || depth > 40) return value;
  if (Array.isArray(value)) return value.map((one) => redactValue(one, depth + 1));
  const members: [string, unknown][] = Object.entries(value);
  const named = members.some(
    ([name, one]) => words.naming.has(name) && typeof one === 'string' && isSecretName(one),
  );
  return Object.fromEntries(
    members.map(([name, one]) => [
      name,
      (isSecretName(name) || (named && words.valued.has(name))) && isTold(name, one)
        ? hidden
        : redactValue(one, depth + 1),
    ]),
  );
}

// Whether a member with the name of a credential can be one.
function isTold(name: string, value: unknown): boolean {
  if (typeof value === 'string') return hides(memberOf(name), value, true, false);
  if (typeof value === 'number') return hides(memberOf(name), String(value), false, false);
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one !== 'object');
}

const memberOf = (name: string): Assigned => ({
  name,
  last: wordsOf(name).at(-1) ?? '',
  quote: '"',
  equals: false,
  tag: false,
  query: false,
  from: 0,
  level: Math.max(secrecyOf(name), inData),
});
