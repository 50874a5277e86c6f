// @mozilla/readability 0.6.0, as published, renamed: it is CommonJS. Apache-2.0, see LICENSE.md.
// A copy, because the shipped adapters are built with Go alone; test/tools.test.ts holds it to what was published.

interface Article<T> {
  title?: string | null;
  content?: T | null;
  length?: number | null;
  excerpt?: string | null;
  byline?: string | null;
  siteName?: string | null;
  lang?: string | null;
  publishedTime?: string | null;
}

declare class Readability<T = string> {
  constructor(
    document: Document,
    options?: { charThreshold?: number; serializer?: (node: Element) => T; disableJSONLD?: boolean },
  );
  /** Changes the document it was given. */
  parse(): Article<T> | null;
}

export = Readability;
