// The API of the demo site, as its own pages use it.

import { fetchJSON, postJSON } from '@tabrelay/plugin-sdk';
import { type JsonObject, type JsonReader, jsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';

export const get = async (path: string, signal: AbortSignal): Promise<JsonReader> =>
  jsonReader(await fetchJSON(path, { signal }));

const post = async (path: string, body: JsonObject, signal?: AbortSignal): Promise<JsonReader> =>
  // keepalive: a note about a page that is closing has to outlive the page.
  jsonReader(await postJSON(path, body, { keepalive: true, ...(signal ? { signal } : {}) }), 'unknown');

/** Raises a counter. The key names the action in the counter's log, so that a repeated action can be seen there. */
export async function increment(name: string, by: number, key: string, signal?: AbortSignal) {
  return counter(name, await post(`/api/counters/${encodeURIComponent(name)}`, { by, key }, signal));
}

const counter = (name: string, answer: JsonReader) => ({
  name,
  value: answer.number('value'),
  asked: answer.number('asked'),
});

/** JSON Schema of a counter. */
export const counterOutput = s.object({
  name: s.string(),
  value: s.integer(),
  asked: s.integer('How many increments the site was asked for.'),
});

/** JSON Schema of the name of a counter or of a list of notes. */
export const nameInput = s.string({ minLength: 1, maxLength: 100 });

/** Leaves a line on the site, with the time it is now; nothing happens without a name. */
export async function note(name: string | undefined, text: string): Promise<void> {
  const at = Date.now();
  if (name !== undefined) await post(`/api/notes/${encodeURIComponent(name)}`, { text, at });
}
