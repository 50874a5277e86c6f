// The settings of a feed, from the form in which the person changes them.

import { parseHTML } from '@tabrelay/plugin-sdk/html';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { send } from './api.ts';
import { siteError } from './failures.ts';
import { feedWithId } from './tree.ts';

/** How often a feed is updated, in the reader's minutes. */
export const intervals = {
  default: 0,
  never: -1,
  '15min': 15,
  '30min': 30,
  hourly: 60,
  '4h': 240,
  '12h': 720,
  daily: 1440,
  weekly: 10080,
} as const;

export const interval = s.choice(
  ['default', 'never', '15min', '30min', 'hourly', '4h', '12h', 'daily', 'weekly'],
  'How often it is to be fetched.',
);

export async function readSettings(id: number, signal: AbortSignal) {
  const { name, categoryId, category, updated, error } = await feedWithId(id, signal);
  const form = parseHTML(await send('Pref_Feeds.editfeed', { id }, { signal }));
  const field = (field: string) => {
    const found = form.querySelector(`input[name="${field}"]`)?.getAttribute('value');
    return found ?? fail(`the form of feed ${id} has no ${field}`);
  };
  const chosen = form.querySelector('[name="update_interval"] option[selected]');
  const minutes = Number(chosen?.getAttribute('value') ?? 0);
  const every = Object.entries(intervals).find(([, value]) => value === minutes)?.[0];
  return {
    id,
    name,
    url: field('feed_url'),
    siteUrl: field('site_url'),
    categoryId,
    category,
    updateEvery: every ?? `${minutes} min`,
    updated,
    error: error || undefined,
  };
}

/** JSON Schema of [readSettings]. */
export const settingsOutput = s.object({
  id: s.integer(),
  name: s.string(),
  url: s.string(),
  siteUrl: s.string(),
  categoryId: s.integer(),
  category: s.string(),
  updateEvery: s.string(),
  updated: s.string('The last update, as the reader shows it to the person.'),
  error: s.optional(s.string('Why the last update failed.')),
});

const fail = (problem: string): never => {
  throw invalidResponse(problem);
};

/** All subscriptions as OPML. */
export async function exportOpml(signal: AbortSignal): Promise<string> {
  const text = await send('Opml.export', { include_settings: 0 }, { signal });
  if (!/^\s*<\?xml\b[^>]*>\s*<opml\b/.test(text)) throw siteError(text, undefined);
  return text;
}

/** Whether a feed with this address is subscribed to. */
export async function isSubscribed(url: string, signal: AbortSignal): Promise<boolean> {
  const opml = new DOMParser().parseFromString(await exportOpml(signal), 'text/xml');
  return [...opml.querySelectorAll('outline')].some((one) => one.getAttribute('xmlUrl') === url);
}
