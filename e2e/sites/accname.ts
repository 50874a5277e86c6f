// What elements are called by public tests: web-platform-tests (accname, html-aam, svg-aam) and Playwright's copies of
// its older ones. Their expectations, in pages of our own, by the name of the file that has them. The element that is
// asked about has the id t. Tests that generate their cases by a rule do so here, too.
import type { PublicCase } from './accname/cases.ts';
import { compContent, compContentTentative, others, svg } from './accname/content.ts';
import { manual } from './accname/embedded.ts';
import { htmlAam } from './accname/html-aam.ts';
import { compHost, compHostTentative, compLabel, hiddenNames } from './accname/labels.ts';
import { compHidden, compHiddenNodes, compLabelledby } from './accname/references.ts';

export type { PublicCase };

export const publicCases: readonly PublicCase[] = [
  ...compLabel,
  ...compHost,
  ...hiddenNames,
  ...compHostTentative,
  ...compHiddenNodes,
  ...compHidden,
  ...compLabelledby,
  ...compContent,
  ...compContentTentative,
  ...others,
  ...svg,
  ...manual,
  ...htmlAam,
];

/** Where our names are not those that the tests expect, and why. */
export const deviations: readonly (readonly [test: string, html: RegExp, name: string, why: string])[] = [
  [
    'comp_host_language_label.tentative',
    /role=none disabled/,
    'Name',
    'a field that its author calls none stays a field, and is told as one',
  ],
  [
    'comp_host_language_label.tentative',
    /<circle r=4><title role=none>/,
    '',
    'a title in a shape names that shape and not the whole drawing, in Chromium too',
  ],
  [
    'name_test_case_*',
    /title=bar/,
    'foo baz',
    'a title counts only where there are no words, in Chromium too',
  ],
  ['html-aam/input-image', /alt="" title=tip/, 'tip', 'a button needs a name, and Chromium takes this one'],
  [
    'html-aam/figure',
    /id=t><figcaption>Tree/,
    '',
    'the caption is told below it; Chromium does not name the picture by it either',
  ],
];
