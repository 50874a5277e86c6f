import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText } from '@tabrelay/plugin-sdk/json';
import { ask } from '../api.ts';
import { summary, summaryOutput } from '../messages.ts';
import { folder, nextOffset, paging, record } from '../shape.ts';

const filters = { all: 'ALL', unread: 'UNSEEN', flagged: 'FLAGGED', unanswered: 'UNANSWERED' } as const;

export const listMessages = defineTool({
  name: 'list_messages',
  displayName: 'List messages',
  description:
    'Lists the messages of a folder, newest first, or searches them: who, subject, date, flags and the uid that other tools take. Read one with read_message.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      folder,
      query: { type: 'string', minLength: 1, description: 'Words to find.' },
      searchIn: {
        type: 'array',
        items: { enum: ['subject', 'from', 'to', 'cc', 'text'] },
        minItems: 1,
        default: ['subject', 'from', 'to'],
        description: 'Where to find them; text is slow in large folders.',
      },
      only: {
        enum: ['all', 'unread', 'flagged', 'unanswered'],
        default: 'all',
        description: 'Which to list.',
      },
      ...paging,
    },
    additionalProperties: false,
  },
  output: record(
    { total: { type: 'integer' }, messages: { type: 'array', items: summaryOutput }, nextOffset },
    'nextOffset',
  ),
  async handle({ folder, query, searchIn, only, limit, offset }, { signal }) {
    const place = { _task: 'mail', _mbox: folder };
    const search = query !== undefined || only !== 'all';
    // The webmail pages by a number of its own.
    let reply = await ask({ ...place, _action: 'list' }, signal);
    const size = asNumber(reply.env.pagesize) || 50;
    const page = Math.floor(offset / size) + 1;
    let found: string | undefined;
    if (search) {
      const where = { _q: query ?? '', _headers: searchIn.join(','), _filter: filters[only], _scope: 'base' };
      reply = await ask({ ...place, _action: 'search', ...where }, signal);
      found = asText(reply.env.search_request);
    }
    const total = asNumber(reply.env.messagecount);
    if (page > 1 && offset < total) {
      reply = await ask({ ...place, _action: 'list', _page: page, _search: found }, signal);
    }
    const rows = offset < total ? reply.commands.filter(({ name }) => name === 'add_message_row') : [];
    const messages = rows.slice(offset % size, (offset % size) + limit).map(summary);
    const next = offset + messages.length;
    return { total, messages, ...(messages.length > 0 && next < total ? { nextOffset: next } : {}) };
  },
});
