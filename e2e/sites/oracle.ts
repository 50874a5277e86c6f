// Where our names and roles differ from those of dom-accessibility-api 0.7.1, over all pages that tests have, and who
// is right. Specifications: accname 1.2, ARIA 1.2, HTML-AAM 1.0, ARIA in HTML. Where no side is wrong, ours is a
// choice.

/** A role: ours, theirs ('' for none), who is right, and why. */
export type RoleDifference = readonly [ours: string, theirs: string, right: 'ours' | 'choice', why: string];

export const roleDifferences: readonly RoleDifference[] = [
  ['paragraph', '', 'ours', 'HTML-AAM: p is a paragraph'],
  ['gridcell', 'cell', 'ours', 'HTML-AAM: td in a grid is a gridcell'],
  ['rowheader', 'columnheader', 'ours', 'HTML-AAM: th with scope=row is a rowheader'],
  ['button', 'foo', 'ours', 'ARIA: the first role that there is counts'],
  ['', 'unknown', 'ours', 'ARIA: a role that there is not does not count'],
  ['button', 'none', 'ours', 'ARIA: what can be focused does not lose its role'],
  ['', 'banner', 'ours', 'HTML-AAM: header in an article is none'],
  ['', 'region', 'ours', 'HTML-AAM: section without a name is none'],
  ['', 'presentation', 'choice', 'no role and presentation are the same to who reads the page'],
  ['img', 'image', 'choice', 'one role with two names: ARIA 1.3 has both'],
  ['', 'legend', 'ours', 'ARIA has no role legend: it names its fieldset'],
  ['img', '', 'choice', 'SVG-AAM: graphics-document; a person sees a picture'],
  ['summary', 'button', 'choice', 'HTML-AAM has no role for summary; an agent learns that it opens details'],
  ['iframe', '', 'choice', 'ARIA has no role for it, and an agent needs to know of a frame'],
  ['file', '', 'choice', 'ARIA has no role for it: what a person would call it'],
  ['password', '', 'choice', 'the same'],
  ['date', '', 'choice', 'the same'],
  ['time', '', 'choice', 'the same'],
  ['datetime', '', 'choice', 'the same'],
  ['month', '', 'choice', 'the same'],
  ['week', '', 'choice', 'the same'],
  ['colour', '', 'choice', 'the same'],
];

/** A name: of which tag, ours, theirs, who is right, and why. */
export type NameDifference = readonly [
  tag: string,
  ours: string,
  theirs: string,
  right: 'ours' | 'choice',
  why: string,
];

export const nameDifferences: readonly NameDifference[] = [
  ['a', 'one two', 'onetwo', 'ours', 'a line break keeps words apart'],
  ['button', 'Save all', 'Saveall', 'ours', 'blocks that it owns are apart as those in it are'],
  ['input', 'Search', '', 'ours', 'HTML-AAM: the placeholder, where there is nothing else'],
  ['input', 'Search the shop', '', 'ours', 'the same'],
  ['li', 'src', 'src main.ts', 'ours', 'Chromium: items below one of a tree have names of their own'],
  ['h2', 'New day', 'day', 'ours', 'accname: text of a style sheet counts'],
  ['a', 'Mail (2)', 'Mail', 'ours', 'the same'],
  ['a', 'Rated 5', '5', 'ours', 'CSS: content with an alternative text is called by that'],
  ['legend', '', 'Address', 'ours', 'it has no role, and names its fieldset'],
  ['legend', '', 'Size', 'ours', 'the same'],
  ['legend', '', 'Delivery', 'ours', 'the same'],
  ['legend', '', 'Nights: first and last, March 2027', 'ours', 'the same'],
  ['caption', '', 'Prices', 'ours', 'ARIA: caption has no name, and names its table'],
  ['caption', '', 'Prices of 2026', 'ours', 'the same'],
  ['details', 'More', '', 'choice', 'HTML-AAM has no name for it; a person knows it by its summary'],
  ['details', 'Details', '', 'choice', 'the same'],
];
