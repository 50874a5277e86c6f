// What the cases of public tests are made of.

export type PublicCase = readonly [test: string, html: string, name: string];

/** Cases of one test. */
export const of = (test: string, cases: readonly (readonly [html: string, name: string])[]): PublicCase[] =>
  cases.map(([html, name]) => [test, html, name]);

export const picture = 'data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==';
/** A picture of one pixel. */
export const img = (attributes: string): string => `<img src="${picture}" ${attributes}>`;

export const hidings = ['style="display:none"', 'style="visibility:hidden"', 'style="visibility:collapse"'];

/** How an element can be hidden. */
export const allHidings = [...hidings, 'aria-hidden=true', 'hidden'];
