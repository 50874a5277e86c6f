// Pages and revisions as the API answers them.

import { ToolError } from '@tabrelay/plugin-sdk';
import { plainText } from '@tabrelay/plugin-sdk/html';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listBeside, textInput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
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

/** The source of a revision, or of one section of it. */
export function wikitext(revision: JsonReader, title: string, section: number | undefined): string {
  const main = revision.at('slots', 'main');
  if (main.flag('texthidden')) throw ToolError.notFound(`The text of "${title}" is hidden.`);
  if (main.flag('nosuchsection')) {
    throw ToolError.notFound(`"${title}" has no section ${section}.`);
  }
  return main.string('content');
}

const noSuchPage = (title: string): ToolError =>
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

/**
 * What the wiki may hide from an account, and then says so: who it was, or what they wrote. Empty where it is hidden.
 */
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
  revisionId: s.integer(),
  parentId: s.integer('0 for the first revision of a page.'),
  timestamp: s.string(),
  user: s.string('Empty where the wiki hides it.'),
  comment: s.string(),
  minor: s.boolean(),
};

/** An entry of the recent changes; of an action that is hidden there is no page. */
export const change = (from: JsonReader) => ({
  title: from.flag('actionhidden') ? '' : from.string('title'),
  kind: from.maybe('logtype')?.string() ?? from.string('type'),
  bytes: from.number('newlen') - from.number('oldlen'),
  bot: from.boolean('bot'),
  ...revision(from, 'old_revid'),
});

/** JSON Schema of [change]'s answer. */
export const changeOutput = s.object({
  title: s.string(),
  kind: s.string('edit, new, or the action: upload, move, delete …'),
  bytes: s.integer('How many bytes longer the page became.'),
  bot: s.boolean(),
  ...revisionProperties,
});

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
export const titleInput = s.string('With its namespace: "Talk:Fox".', {
  minLength: 1,
});

/** JSON Schema of how long a list may be. */
export const limitInput = s.integer('How many entries.', { minimum: 1, maximum: 100, default: 10 });

/**
 * JSON Schema of the arguments of a tool that reads a page, or one section of it. A function, because a constant with
 * a spread stays in the bundle though the page has no use for it.
 */
export const readInput = () =>
  s.parameters({
    title: titleInput,
    section: s.optional(
      s.integer('Only this section; 0 is the text before the first heading.', { minimum: 0 }),
    ),
    ...textInput,
  });
