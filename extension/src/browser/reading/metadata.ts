// What a page says about itself in its head: meta tags, Open Graph (https://ogp.me), JSON-LD (https://json-ld.org).

import { all, attribute } from './members.ts';
import { address, cut, line, root } from './page.ts';

const most = 40;

/** `<meta name="…">` without those that hold a token, and without instructions to the browser. */
export function metaTags(): Record<string, string> {
  const unwanted = /csrf|token|nonce|verification|secret|viewport|^next-|^generator$/i;
  return collect('meta[name][content]', 'name', (name) => !unwanted.test(name) && !isOpenGraph(name));
}

/** Open Graph, by whichever attribute it is named. */
export function openGraph(): Record<string, string> {
  return {
    ...collect('meta[name][content]', 'name', isOpenGraph),
    ...collect('meta[property][content]', 'property', isOpenGraph),
  };
}

const isOpenGraph = (name: string): boolean => /^(og|article|book|profile|product|music|video):/i.test(name);

function collect(selector: string, key: string, wanted: (name: string) => boolean): Record<string, string> {
  const found = new Map<string, string>();
  for (const meta of all(root(), selector)) {
    const name = cut(attribute(meta, key), 100);
    if (found.size < most && wanted(name) && !found.has(name))
      found.set(name, cut(line(attribute(meta, 'content')), 500));
  }
  return Object.fromEntries(found);
}

export const canonical = (): string =>
  all(root(), 'link[rel~="canonical" i][href]').map((link) => address(attribute(link, 'href')))[0] ?? '';

export const feeds = (): string[] =>
  all(root(), 'link[rel~="alternate" i][href]')
    .filter((link) => /rss|atom|feed/i.test(attribute(link, 'type')))
    .map((link) => address(attribute(link, 'href')))
    .filter((url) => url !== '')
    .slice(0, 20);

/** The statements of JSON-LD, a graph taken apart. What is not JSON, and what is too long, is left out. */
export function statements(): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  for (const script of all(root(), 'script[type="application/ld+json" i]')) {
    const source = script.textContent ?? '';
    if (source.length <= 20_000) found.push(...objects(parse(source)));
  }
  return found.slice(0, 20);
}

function parse(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

function objects(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(objects);
  if (typeof value !== 'object' || value === null) return [];
  const graph: unknown = Reflect.get(value, '@graph');
  return Array.isArray(graph) ? graph.flatMap(objects) : [Object.fromEntries(Object.entries(value))];
}
