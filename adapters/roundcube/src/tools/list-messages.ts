import { defineTool } from '@tabrelay/plugin-sdk';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import { listPart } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { ask } from '../api.ts';
import { summary, summaryOutput } from '../messages.ts';
import { folder, nextOffset, paging } from '../shape.ts';

const filters = {
  all: 'ALL',
  unread: 'UNSEEN',
  flagged: 'FLAGGED',
  unanswered: 'UNANSWERED',
} as const;

export const listMessages = defineTool({
  name: 'list_messages',
  displayName: 'List messages',
  description:
    'Lists the messages of a folder, newest first, or searches them: who, subject, date, flags ' +
    'and uid. Read one with read_message.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    folder,
    query: s.optional(s.string('Words to find.', { minLength: 1 })),
    searchIn: s.array(
      s.choice(['subject', 'from', 'to', 'cc', 'text']),
      'Where to find them; text is slow in large folders.',
      { minItems: 1, default: ['subject', 'from', 'to'] },
    ),
    only: s.choice(['all', 'unread', 'flagged', 'unanswered'], 'Which to list.', {
      default: 'all',
    }),
    ...paging,
  }),
  output: s.object({
    total: s.integer(),
    messages: s.array(summaryOutput),
    nextOffset: s.optional(nextOffset),
  }),
  async handle({ folder, query, searchIn, only, limit, offset }, { signal, maxBytes }) {
    const place = { _task: 'mail', _mbox: folder };
    const search = query !== undefined || only !== 'all';
    // The webmail pages by a number of its own.
    let reply = await ask({ ...place, _action: 'list' }, signal);
    const size = reply.env.number('pagesize');
    const page = Math.floor(offset / size) + 1;
    let searched: string | undefined;
    if (search) {
      const where = {
        _q: query ?? '',
        _headers: searchIn.join(','),
        _filter: filters[only],
        _scope: 'base',
      };
      reply = await ask({ ...place, _action: 'search', ...where }, signal);
      searched = reply.env.string('search_request');
    }
    const total = reply.env.number('messagecount');
    if (page > 1 && offset < total) {
      reply = await ask({ ...place, _action: 'list', _page: page, _search: searched }, signal);
    }
    const rows =
      offset < total ? reply.commands.filter(({ name }) => name === 'add_message_row') : [];
    if (offset < total && rows.length === 0)
      throw invalidResponse(`it counts ${total} messages and lists none`);
    const found = rows.slice(offset % size, (offset % size) + limit).map(summary);
    return listPart(found, { offset, total, maxBytes }, (messages, paging) => ({
      messages,
      ...paging,
    }));
  },
});
