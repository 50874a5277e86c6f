// Where a thrown error comes from, for people who write adapters: file, line and column of its top frame. Of the
// file's address only the path is told, so that neither a query nor a folder of this machine leaves the page.
import { isRecord } from '../shared/guards.ts';
import { codeAt, defineProperty, errorField, indexOf, property, slice } from '../shared/primordials.ts';

const frame = '\n    at '; // how V8 begins the line of a frame
const longest = 300;
const mostPlaces = 8;
const ours = 'chrome-extension';

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isLower = (code: number): boolean => code >= 97 && code <= 122;

function stackOf(thrown: unknown): string {
  if (!isRecord(thrown)) return '';
  const stack = errorField(thrown, 'stack') ?? property(thrown, 'stack', thrown);
  return typeof stack === 'string' ? stack : '';
}

/** Whether what was thrown says where. */
export function hasStack(thrown: unknown): boolean {
  try {
    return stackOf(thrown) !== '';
  } catch {
    return false;
  }
}

// The index behind `:line:column` at the end of text, counted from its last character; -1 when there is none.
function placeAt(text: string): number {
  let at = text.length;
  for (let part = 0; part < 2; part++) {
    const end = at;
    while (at > 0 && isDigit(codeAt(text, at - 1))) at--;
    if (at === end || at === 0 || slice(text, at - 1, at) !== ':') return -1;
    at--;
  }
  return at;
}

function before(text: string, mark: string): string {
  const at = indexOf(text, mark);
  return at < 0 ? text : slice(text, 0, at);
}

// Of `name (https://host/path?query:1:2)` and `https://host/path:1:2` the scheme and /path:1:2; of all else nothing.
function placeIn(text: string): { scheme: string; line: string } | undefined {
  const colon = indexOf(text, '://');
  if (colon < 0) return undefined;
  let start = colon;
  while (start > 0 && (isLower(codeAt(text, start - 1)) || slice(text, start - 1, start) === '-')) start--;
  const scheme = slice(text, start, colon);
  if (scheme !== 'https' && scheme !== 'http' && scheme !== ours) return undefined;
  const address = before(slice(text, colon + 3), ')');
  const at = placeAt(address);
  const path = indexOf(address, '/');
  if (at < 0 || path < 0 || path > at) return undefined;
  const file = before(before(slice(address, path, at), '?'), '#');
  const line = file + slice(address, at);
  return line.length > longest || indexOf(line, ' ') >= 0 ? undefined : { scheme, line };
}

// Calls back with the place of each frame that has an address, from the innermost on, until it returns true.
function eachPlace(thrown: unknown, over: (place: { scheme: string; line: string }) => boolean): void {
  try {
    let rest = stackOf(thrown);
    for (let at = indexOf(rest, frame); at >= 0; at = indexOf(rest, frame)) {
      rest = slice(rest, at + frame.length);
      const place = placeIn(before(rest, '\n'));
      if (place !== undefined && over(place)) return;
    }
  } catch {
    // A getter threw: the error has no place.
  }
}

/** The place of the first frame of an error's stack that has an address, as path:line:column. */
export function traceLine(thrown: unknown): string | undefined {
  let first: string | undefined;
  eachPlace(thrown, ({ line }) => {
    first = line;
    return true;
  });
  return first;
}

/** A place in a file of the extension, which is a path such as /adapters/demo-1a.js; undefined when it is elsewhere. */
export function placeInFile(address: string, file: string): string | undefined {
  const place = placeIn(address);
  return place !== undefined && place.scheme === ours && indexOf(place.line, `${file}:`) === 0
    ? place.line
    : undefined;
}

/** The places of an error in a file of the extension, from the innermost frame on. */
export function placesInFile(thrown: unknown, file: string): string[] {
  const places: string[] = [];
  eachPlace(thrown, ({ scheme, line }) => {
    if (scheme === ours && indexOf(line, `${file}:`) === 0)
      defineProperty(places, places.length, { value: line, enumerable: true, configurable: true });
    return places.length >= mostPlaces;
  });
  return places;
}

/** Whether an address is of a file of the extension. */
export const isOurs = (address: string): boolean => indexOf(address, `${ours}://`) === 0;

/** Whether an error was thrown by a file of the extension: this one, or any. */
export function isThrownIn(thrown: unknown, file = ''): boolean {
  let own = false;
  eachPlace(thrown, ({ scheme, line }) => {
    own = scheme === ours && (file === '' || indexOf(line, `${file}:`) === 0);
    return true;
  });
  return own;
}
