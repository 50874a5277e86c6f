// How long one test took, in the words of all test runners.

import { z } from 'zod';

export const Took = z.object({ suite: z.string(), test: z.string(), ms: z.number(), flaky: z.boolean() });

export type Took = z.infer<typeof Took>;
