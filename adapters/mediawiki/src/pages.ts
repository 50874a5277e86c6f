// Pages and revisions as the API answers them.

import { ToolError } from '@tabrelay/plugin-sdk';
import { plainText } from '@tabrelay/plugin-sdk/html';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listBeside, textInput } from '@tabrelay/plugin-sdk/paging';
import { get } from './api.ts';

/** The only page of a `query` about one title, or a ToolError that says why there is none. */
export function onlyPage(answer: JsonReader, title: string): JsonReader {
  const query = answer.at('query');
  // A title with the prefix of another wiki is no page of this one.
  if (query.maybe('interwiki') && !query.maybe('pages')) throw noSuchPage(title);
  const page = query.first('pages');
  if (page.flag('invalid')) {
    throw ToolError.validation(
      page.maybe('invalidreason', 'text')?.string() || `"${title}" is not a possible page title.`,
    );
  }
  if (page.flag('special')) {
    throw ToolError.validation(
      `"${title}" is made by the wiki when it is opened, and has neither a text nor a history.`,
    );
  }
  if (page.flag('missing')) throw noSuchPage(title);
  return page;
}

export const noSuchPage = (title: string): ToolError =>
  ToolError.notFound(`There is no page "${title}" on this wiki. Search for it, or create it.`);

/** The talk page of a page, which may not exist yet; of a talk page itself. */
export async function talkPage(
  title: string,
  signal: AbortSignal,
): Promise<{ title: string; exists: boolean }> {
  const params = {
    action: 'query',
    prop: 'info',
    titles: title,
    redirects: true,
    inprop: ['associatedpage', 'talkid'],
  };
  const answer = await get(params, signal);
  const page = answer.at('query').maybe('pages')?.first();
  if (page && !page.flag('invalid') && page.number('ns') % 2 === 1) {
    return { title: page.string('title'), exists: !page.flag('missing') };
  }
  const talk = onlyPage(answer, title).string('associatedpage');
  return { title: talk, exists: page?.maybe('talkid') !== undefined };
}

/** What the wiki may hide from an account, and then says so: who it was, or what they wrote. Empty where it is hidden. */
export const shownTo = (from: JsonReader, field: 'user' | 'comment'): string =>
  from.maybe(field)?.string() ?? (from.flag(`${field}hidden`) ? '' : from.string(field));

/** A revision as history and watch list show it, which name the revision before by other words. */
export const revision = (from: JsonReader, parent: 'parentid' | 'old_revid') => ({
  revisionId: from.number('revid'),
  parentId: from.number(parent),
  timestamp: from.string('timestamp'),
  user: shownTo(from, 'user'),
  comment: shownTo(from, 'comment'),
  minor: from.boolean('minor'),
});

/** JSON Schema of [revision]'s answer. */
export const revisionProperties = {
  revisionId: { type: 'integer' },
  parentId: { type: 'integer', description: '0 for the first revision of a page.' },
  timestamp: { type: 'string' },
  user: { type: 'string', description: 'Empty where the wiki hides it.' },
  comment: { type: 'string' },
  minor: { type: 'boolean' },
} as const;

/** An entry of the recent changes; of an action that is hidden there is no page. */
export const change = (from: JsonReader) => ({
  title: from.flag('actionhidden') ? '' : from.string('title'),
  kind: from.maybe('logtype')?.string() ?? from.string('type'),
  bytes: from.number('newlen') - from.number('oldlen'),
  bot: from.boolean('bot'),
  ...revision(from, 'old_revid'),
});

/** JSON Schema of [change]'s answer. */
export const changeOutput = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    kind: { type: 'string', description: 'edit, new, or the action: upload, move, delete …' },
    bytes: { type: 'integer', description: 'How many bytes longer the page became.' },
    bot: { type: 'boolean' },
    ...revisionProperties,
  },
  required: ['title', 'kind', 'bytes', 'bot', 'revisionId', 'timestamp', 'user', 'comment'],
} as const;

/** The sections of a parsed page: the first hundred, and no more than leave most of the answer to the text. */
export const sectionList = (parsed: JsonReader, maxBytes: number | undefined) =>
  listBeside(
    parsed
      .list('sections')
      .slice(0, 100)
      .map((one) => ({
        section: one.string('index'),
        level: Number(one.string('level')),
        heading: plainText(one.string('line')),
      })),
    { maxBytes },
  );

/** JSON Schema of the title of a page that exists. */
export const titleInput = {
  type: 'string',
  minLength: 1,
  description: 'As search answers it, with its namespace: "Talk:Fox".',
} as const;

/** JSON Schema of how long a list may be. */
export const limitInput = {
  type: 'integer',
  minimum: 1,
  maximum: 100,
  default: 10,
  description: 'How many entries.',
} as const;

/**
 * JSON Schema of the arguments of a tool that reads a page, or one section of it. A function, because a constant with
 * a spread stays in the bundle though the page has no use for it.
 */
export const readInput = () =>
  ({
    type: 'object',
    properties: {
      title: titleInput,
      section: {
        type: 'integer',
        minimum: 0,
        description: 'Only this section; 0 is the text before the first heading.',
      },
      ...textInput,
    },
    required: ['title'],
    additionalProperties: false,
  }) as const;
