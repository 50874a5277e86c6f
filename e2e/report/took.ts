// How long one test took, in the words of all test runners.

import { z } from 'zod';

export const Took = z.object({ suite: z.string(), test: z.string(), ms: z.number(), flaky: z.boolean() });

export type Took = z.infer<typeof Took>;

/** What node's JUnit report says. */
export function fromJunit(suite: string, xml: string): (Took & { failed: boolean })[] {
  const cases = xml.matchAll(/<testcase name="([^"]*)" time="([^"]*)"([^>]*)>/g);
  return Array.from(cases, ([, test = '', seconds, more = '']) => ({
    suite,
    test: test
      .replace(/&#10;/g, ' ')
      .replace(/&quot;/g, '"')
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&amp;/g, '&'),
    ms: Number(seconds) * 1000,
    flaky: false,
    failed: more.includes('failure='),
  }));
}
