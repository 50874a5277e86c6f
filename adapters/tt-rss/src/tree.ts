// The categories, feeds and labels of the person, as the reader's tree shows them, and how much of each is unread.

import { invalidResponse, type JsonReader } from '@tabrelay/plugin-sdk/json';
import { ask, numberIn } from './api.ts';
import { missing } from './failures.ts';

interface Category {
  id: number;
  name: string;
  /** The category above it. */
  parentId?: number;
  feeds: number;
}

export interface Feed {
  id: number;
  name: string;
  categoryId: number;
  category: string;
  updated: string;
  /** Why its last update failed. */
  error: string;
  /** Whether it is never updated by itself. */
  paused: boolean;
}

export interface Tree {
  categories: Category[];
  feeds: Feed[];
}

export async function readTree(signal: AbortSignal): Promise<Tree> {
  // The tree of the reading page: that of the preferences shows what the person searched for last.
  const shown = { mode: 2, force_show_empty: 1 };
  const answer = await ask('Pref_Feeds.getfeedtree', shown, signal);
  const tree: Tree = { categories: [], feeds: [] };
  const items = answer.list('items');
  // Those that are nobody's, such as that of all articles, are always there.
  if (items.length === 0) answer.at('items').fail('is empty');
  collect(items, undefined, tree);
  return tree;
}

function collect(items: JsonReader[], parent: Category | undefined, tree: Tree): void {
  for (const item of items) {
    const id = numberIn(item.at('bare_id'));
    if (!item.string('id').startsWith('CAT:')) {
      // Below 1 are the special feeds and the labels.
      if (id > 0) tree.feeds.push(feed(item, id, parent));
    } else if (id < 0) {
      // Special feeds, and labels.
    } else {
      const category = { id, name: item.string('name'), ...above(parent), feeds: 0 };
      tree.categories.push(category);
      collect(item.list('items'), category, tree);
    }
  }
}

const above = (parent: Category | undefined) => (parent ? { parentId: parent.id } : {});

function feed(item: JsonReader, id: number, parent: Category | undefined): Feed {
  if (parent) parent.feeds++;
  return {
    id,
    name: item.string('name'),
    categoryId: parent?.id ?? 0,
    category: parent?.name ?? '',
    updated: item.maybe('param')?.string() ?? '',
    error: item.maybe('error')?.string() ?? '',
    paused: numberIn(item.at('updates_disabled')) === 1,
  };
}

export interface Label {
  id: number;
  name: string;
}

export async function readLabels(signal: AbortSignal): Promise<Label[]> {
  const items = rootItems(await ask('Pref_Labels.getlabeltree', {}, signal));
  return items.map((item) => ({ id: numberIn(item.at('bare_id')), name: item.string('name') }));
}

/** What a tree of the preferences has in it. */
export function rootItems(tree: JsonReader): JsonReader[] {
  const root = tree.first('items');
  return root.string('id') === 'root' ? root.list('items') : root.at('id').fail('is not root');
}

/** The number by which a label is a feed. */
export const feedOfLabel = (id: number): number => -1025 - id;

/** How many articles are unread, and of some how many there are. */
export interface Counters {
  total: number;
  ofFeed(id: number): number;
  ofCategory(id: number): number;
  /** All of them, of starred and published articles. */
  articles(id: number): number;
}

export async function readCounters(signal: AbortSignal): Promise<Counters> {
  const feeds = new Map<string, JsonReader>();
  const categories = new Map<string, JsonReader>();
  for (const one of (await ask('RPC.getAllCounters', {}, signal)).list('counters')) {
    const kind = one.maybe('kind')?.string() === 'cat' ? categories : feeds;
    kind.set(String(one.at('id').value), one);
  }
  const all = feeds.get('global-unread');
  if (all === undefined) throw invalidResponse('it does not count all that is unread');
  // Left out are those without an article.
  const number = (from: JsonReader | undefined, field: string) => {
    const found = from?.maybe(field);
    return found ? numberIn(found) : 0;
  };
  return {
    total: numberIn(all.at('counter')),
    ofFeed: (id) => number(feeds.get(String(id)), 'counter'),
    ofCategory: (id) => number(categories.get(String(id)), 'counter'),
    articles: (id) => number(feeds.get(String(id)), 'auxcounter'),
  };
}

/** One of a list by its id; fails with NOT_FOUND. The reader itself says "done" about what does not exist. */
export function withId<One extends { id: number }>(
  all: readonly One[],
  id: number,
  kind: string,
): One {
  const found = all.find((one) => one.id === id);
  if (found) return found;
  throw missing(
    `There is no ${kind} ${id}. list_${kind === 'category' ? 'categories' : `${kind}s`} lists the existing ones.`,
  );
}

export const feedWithId = async (id: number, signal: AbortSignal): Promise<Feed> =>
  withId((await readTree(signal)).feeds, id, 'feed');

export const labelWithId = async (id: number, signal: AbortSignal): Promise<Label> =>
  withId(await readLabels(signal), id, 'label');

/** 0 is no category, and always there. */
export async function categoryMustExist(
  id: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (id) withId((await readTree(signal)).categories, id, 'category');
}
