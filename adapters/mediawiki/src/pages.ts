// Pages and revisions as the API answers them.

import { ToolError } from '@tabrelay/plugin-sdk';
import { asNumber, asText, isTrue, type JsonObject, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { get } from './api.ts';

/** The only page of a `query` about one title, or a ToolError that says why there is none. */
export function onlyPage(answer: JsonObject, title: string): JsonObject {
  const page = objectsIn(objectAt(answer, 'query').pages)[0];
  if (page === undefined || isTrue(page.missing)) throw noSuchPage(title);
  if (isTrue(page.invalid)) {
    throw ToolError.validation(
      asText(objectAt(page, 'invalidreason').text) || `"${title}" is not a possible page title.`,
    );
  }
  if (isTrue(page.special)) {
    throw ToolError.validation(
      `"${title}" is made by the wiki when it is opened, and has neither a text nor a history.`,
    );
  }
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
  const page = objectsIn(objectAt(await get(params, signal), 'query').pages)[0] ?? {};
  if (asNumber(page.ns) % 2 === 1) return { title: asText(page.title), exists: !isTrue(page.missing) };
  onlyPage({ query: { pages: [page] } }, title);
  const talk = asText(page.associatedpage);
  if (talk === '') throw ToolError.notFound(`"${title}" has no talk page.`);
  return { title: talk, exists: asNumber(page.talkid) > 0 };
}

/** A revision as history and watch list show it. */
export const revision = (from: JsonObject) => ({
  revisionId: asNumber(from.revid),
  parentId: asNumber(from.parentid),
  timestamp: asText(from.timestamp),
  user: asText(from.user),
  comment: asText(from.comment),
  minor: isTrue(from.minor),
});

/** JSON Schema of [revision]'s answer. */
export const revisionProperties = {
  revisionId: { type: 'integer' },
  parentId: { type: 'integer', description: '0 for the first revision of a page.' },
  timestamp: { type: 'string' },
  user: { type: 'string' },
  comment: { type: 'string' },
  minor: { type: 'boolean' },
} as const;

/** An entry of the recent changes. */
export const change = (from: JsonObject) => ({
  title: asText(from.title),
  kind: asText(from.logtype) || asText(from.type),
  bytes: asNumber(from.newlen) - asNumber(from.oldlen),
  bot: isTrue(from.bot),
  ...revision({ ...from, parentid: from.old_revid }),
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

/** One piece of a long text, so that an answer stays small; the caller asks for the next piece by its offset. */
export function piece(whole: string, offset: number, maxChars: number) {
  const part = whole.slice(offset, offset + maxChars);
  const next = offset + part.length;
  return { text: part, totalChars: whole.length, ...(next < whole.length ? { nextOffset: next } : {}) };
}

/** JSON Schema of [piece]'s arguments. */
export const pieceInput = {
  offset: {
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'Where to start, from nextOffset of the answer before.',
  },
  maxChars: {
    type: 'integer',
    minimum: 200,
    maximum: 100000,
    default: 8000,
    description: 'How much text to return.',
  },
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
      ...pieceInput,
    },
    required: ['title'],
    additionalProperties: false,
  }) as const;

/** JSON Schema of [piece]'s answer. */
export const pieceOutput = {
  text: { type: 'string' },
  totalChars: { type: 'integer' },
  nextOffset: { type: 'integer', description: 'Present when there is more text.' },
} as const;
