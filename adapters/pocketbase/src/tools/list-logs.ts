import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { containing, get } from '../api.ts';
import { maxCharsInput, pageInput, pageOf, pageOutput, record } from '../records.ts';

/** https://pocketbase.io/docs/go-logging/ */
const levels = { debug: -4, info: 0, warn: 4, error: 8 } as const;

const levelName = (level: unknown): string =>
  Object.entries(levels).find(([, number]) => number === level)?.[0] ?? String(level);

export const listLogs = defineTool({
  name: 'list_logs',
  displayName: 'List logs',
  description:
    "The server's log, newest first: requests with status and duration, and what the application wrote. It is some seconds late.",
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      minLevel: {
        type: 'string',
        enum: ['debug', 'info', 'warn', 'error'],
        default: 'info',
        description: 'error shows failed requests only.',
      },
      search: {
        type: 'string',
        default: '',
        description: 'Only entries whose message or URL contains this.',
      },
      maxChars: maxCharsInput,
      ...pageInput,
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      logs: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            created: { type: 'string' },
            level: { type: 'string' },
            message: { type: 'string' },
            data: { type: 'object', description: 'status, method, url, execTime in ms, error and more.' },
          },
          required: ['created', 'level', 'message', 'data'],
        },
      },
      ...pageOutput,
    },
    required: ['logs', 'total'],
  },
  arrayPath: '.logs',
  async handle({ minLevel, search, maxChars, limit, page }, { signal }) {
    const words = containing(search);
    const found = search && ` && (message ~ ${words} || data.url ~ ${words})`;
    const filter = `level >= ${levels[minLevel]}${found}`;
    const answer = await get('logs', { page, perPage: limit, filter, sort: '-@rowid' }, signal);
    const logs = objectsIn(answer.items).map((one) => {
      const { userAgent: _, auth: _auth, ...data } = objectAt(one.data);
      return {
        created: asText(one.created),
        level: levelName(one.level),
        message: asText(one.message),
        data: record(data, maxChars),
      };
    });
    return { logs, ...pageOf(answer) };
  },
});
