import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { type Paging, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { containing, list } from '../api.ts';
import { maxCharsInput, pageInput, shortened } from '../records.ts';

/** https://pocketbase.io/docs/go-logging/ */
const levels = { debug: -4, info: 0, warn: 4, error: 8 } as const;

const levelName = (level: number): string =>
  Object.entries(levels).find(([, number]) => number === level)?.[0] ?? String(level);

export const listLogs = defineTool({
  name: 'list_logs',
  displayName: 'List logs',
  description:
    "The server's log, newest first: requests with status and duration, and what the " +
    'application wrote. It is some seconds late.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    minLevel: s.choice(['debug', 'info', 'warn', 'error'], 'error shows failed requests only.', {
      default: 'info',
    }),
    search: s.string('Only entries whose message or URL contains this.', { default: '' }),
    maxChars: maxCharsInput,
    ...pageInput,
  }),
  output: s.object({
    logs: s.array(
      s.object({
        created: s.string(),
        level: s.string(),
        message: s.string(),
        data: {
          type: 'object',
          description: 'status, method, url, execTime in ms, error and more.',
        },
      }),
    ),
    ...pagingOutput,
  }),
  arrayPath: '.logs',
  async handle({ minLevel, search, maxChars, limit, offset }, { signal, maxBytes }) {
    const words = containing(search);
    const found = search && ` && (message ~ ${words} || data.url ~ ${words})`;
    const filter = `level >= ${levels[minLevel]}${found}`;
    const read = (one: JsonReader) => {
      const { userAgent: _, auth: _auth, ...data } = one.object('data');
      return {
        created: one.string('created'),
        level: levelName(one.number('level')),
        message: one.string('message'),
        data: shortened(data, maxChars),
      };
    };
    const part = { limit, offset, maxBytes };
    const answer = (logs: ReturnType<typeof read>[], paging: Paging) => ({ logs, ...paging });
    return list('logs', part, { filter, sort: '-@rowid' }, read, answer, signal);
  },
});
