// Lists articles as the reading page does. The reader then takes over how it was asked, as what the person wants to see
// next time: that is put back.

import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { ask } from './api.ts';
import { invalid, missing } from './failures.ts';
import { feedOfLabel } from './tree.ts';

/** The reader lists so many at once. */
export const pageSize = 30;

const special = {
  all: -4,
  fresh: -3,
  starred: -1,
  published: -2,
  archived: 0,
  recently_read: -6,
} as const;

export interface Place {
  feedId?: number | undefined;
  categoryId?: number | undefined;
  labelId?: number | undefined;
  special?: keyof typeof special | undefined;
}

/** A place as the reader names it. */
export function feedOf({ feedId, categoryId, labelId, special: name }: Place) {
  const given = [feedId, categoryId, labelId, name].filter((one) => one !== undefined);
  if (given.length > 1) throw invalid('Give one of feedId, categoryId, labelId and special.');
  if (categoryId !== undefined) return { feed: categoryId, isCategory: true };
  if (labelId !== undefined) return { feed: feedOfLabel(labelId), isCategory: false };
  return { feed: feedId ?? special[name ?? 'all'], isCategory: false };
}

interface Asked {
  place: Place;
  mode: string;
  order: string;
  query: string;
  offset: number;
}

let last: Promise<unknown> = Promise.resolve();

/** One page of articles. One at a time: else one would put back how the other was asked. */
export function view(asked: Asked, signal: AbortSignal): Promise<JsonReader[]> {
  const turn = last.then(() => viewAlone(asked, signal));
  last = turn.catch(() => undefined);
  return turn;
}

async function viewAlone(asked: Asked, signal: AbortSignal): Promise<JsonReader[]> {
  const { feed, isCategory } = feedOf(asked.place);
  const wanted = await viewOfPerson(signal);
  try {
    const reply = await ask(
      'Feeds.view',
      {
        feed,
        cat: isCategory,
        m: '',
        view_mode: asked.mode,
        order_by: asked.order,
        query: asked.query || undefined,
        skip: asked.offset,
      },
      signal,
    );
    const headlines = reply.at('headlines');
    if (headlines.number('id') === notThere)
      throw missing('There is no such feed, category or label.');
    // Where there are none it says so in words.
    return typeof headlines.at('content').value === 'string' ? [] : headlines.list('content');
  } finally {
    if (wanted.mode !== asked.mode) await putBack('_DEFAULT_VIEW_MODE', wanted.mode);
    if (wanted.order !== asked.order) await putBack('_DEFAULT_VIEW_ORDER_BY', wanted.order);
  }
}

/** What the reader names a feed that is none of the person's. */
const notThere = -7;

/** What the reading page asks when it opens, with what it says about the browser. */
async function viewOfPerson(signal: AbortSignal) {
  const browser = {
    hasAudio: true,
    hasMp3: true,
    hasSandbox: true,
    clientTzOffset: new Date().getTimezoneOffset() * 60,
  };
  const reply = await ask('RPC.sanityCheck', browser, signal);
  const params = reply.at('init-params');
  return {
    mode: params.string('default_view_mode'),
    order: params.string('default_view_order_by'),
  };
}

/** Also when the call was cancelled; that it fails is no reason to keep the articles from who asked for them. */
const putBack = (key: string, value: string): Promise<unknown> =>
  ask('RPC.setpref', { key, value }, AbortSignal.timeout(10_000)).catch(() => undefined);
