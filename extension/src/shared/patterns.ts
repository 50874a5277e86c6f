// Chrome match patterns (https://developer.chrome.com/docs/extensions/develop/concepts/match-patterns), checked in
// the document itself before a tool starts. Built-ins only from primordials: the main world runs this too.
import { indexOf, max, slice, toLower } from './primordials.ts';

interface Parts {
  scheme: string;
  host: string;
  port: string;
  path: string;
}

// Splits both a URL and a pattern; neither has credentials here, because a page's location shows none.
function split(text: string): Parts | undefined {
  const schemeEnd = indexOf(text, '://');
  if (schemeEnd < 1) return undefined;
  const rest = slice(text, schemeEnd + 3);
  const slash = indexOf(rest, '/');
  const authority = toLower(slash < 0 ? rest : slice(rest, 0, slash));
  const bracket = indexOf(authority, ']');
  const colon = indexOf(authority, ':', max(bracket, 0));
  const host = colon < 0 ? authority : slice(authority, 0, colon);
  return {
    scheme: slice(text, 0, schemeEnd),
    host: slice(host, -1) === '.' ? slice(host, 0, -1) : host, // example.org. is example.org, spelled to the root
    port: colon < 0 ? '' : slice(authority, colon + 1),
    path: slash < 0 ? '/' : slice(rest, slash),
  };
}

function schemeMatches(pattern: string, scheme: string): boolean {
  return pattern === '*' ? scheme === 'http' || scheme === 'https' : pattern === scheme;
}

function hostMatches(pattern: string, host: string): boolean {
  if (pattern === '*' || pattern === host) return true;
  if (slice(pattern, 0, 2) !== '*.') return false;
  const domain = slice(pattern, 2);
  return host === domain || slice(host, -domain.length - 1) === `.${domain}`;
}

// A pattern without a port matches every port.
function portMatches(pattern: string, port: string, scheme: string): boolean {
  if (pattern === '' || pattern === '*') return true;
  return pattern === (port === '' ? (scheme === 'https' ? '443' : '80') : port);
}

// Greedy with one step back to the last star, so that no pattern takes more than length times length.
function globMatches(glob: string, text: string): boolean {
  let g = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (glob[g] === '*') {
      star = g++;
      mark = t;
    } else if (g < glob.length && glob[g] === text[t]) {
      g++;
      t++;
    } else if (star >= 0) {
      g = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}

function withoutFragment(url: string): string {
  const hash = indexOf(url, '#');
  return hash < 0 ? url : slice(url, 0, hash);
}

/** Whether one Chrome match pattern covers a URL. The fragment does not count. */
export function patternMatches(pattern: string, url: string): boolean {
  const target = split(withoutFragment(url));
  if (target === undefined) return false;
  if (pattern === '<all_urls>') return schemeMatches('*', target.scheme);
  const wanted = split(pattern);
  if (wanted === undefined) return false;
  return (
    schemeMatches(wanted.scheme, target.scheme) &&
    hostMatches(wanted.host, target.host) &&
    portMatches(wanted.port, target.port, target.scheme) &&
    globMatches(wanted.path, target.path)
  );
}

/** Whether a URL is covered by one of matches and by none of excludes. */
export function urlAllowed(url: string, matches: readonly string[], excludes: readonly string[]): boolean {
  for (let i = 0; i < excludes.length; i++) {
    const pattern = excludes[i];
    if (pattern !== undefined && patternMatches(pattern, url)) return false;
  }
  for (let i = 0; i < matches.length; i++) {
    const pattern = matches[i];
    if (pattern !== undefined && patternMatches(pattern, url)) return true;
  }
  return false;
}
