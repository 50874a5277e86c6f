// What the comparison measured, and its page: the tables, and all that tabrelay loses, are made of the measurements.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { repository } from '../../stage/paths.ts';

/** The servers of the comparison, tabrelay first. */
export const compared = ['tabrelay', 'playwright', 'devtools', 'agent-browser'] as const;
export type ServerName = (typeof compared)[number];

const Server = z.enum(compared);

const Comparison = z.object({
  date: z.string(),
  commit: z.string(),
  machine: z.object({
    system: z.string(),
    processor: z.string(),
    cores: z.number(),
    memoryGB: z.number(),
    chromium: z.string(),
    node: z.string(),
  }),
  /** Load averages of the machine: of one, five and fifteen minutes. */
  load: z.object({ before: z.array(z.number()), after: z.array(z.number()) }),
  servers: z.array(
    z.object({
      server: Server,
      version: z.string(),
      /** Tokens of the JSON of all tools in the answer to `tools/list`. */
      toolsList: z.number(),
      /** Tokens of what the agent of the errands has read before its first call. */
      instructions: z.number(),
    }),
  ),
  errands: z.array(
    z.object({
      errand: z.string(),
      server: Server,
      runs: z.number(),
      done: z.number(),
      calls: z.number(),
      tokens: z.number(),
      ms: z.number(),
      /** Why it was not done, of the first run that failed. */
      why: z.string().optional(),
    }),
  ),
  /** Tokens of a first look, of the whole page, of a look where nothing changed, and of one after one text did. */
  looks: z.array(z.object({ page: z.string(), server: Server, tokens: z.array(z.number()) })),
});
export type Comparison = z.infer<typeof Comparison>;

export const measurements = path.join(import.meta.dirname, 'comparison.json');
export const page = path.join(repository, 'docs/browser-comparison.md');

export async function rendered(): Promise<string> {
  Comparison.parse(JSON.parse(await readFile(measurements, 'utf8')));
  return readFile(page, 'utf8');
}
