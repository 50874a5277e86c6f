// Why the reader does not subscribe to something.

import { ToolError } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { invalid, missing, siteError, unreachable } from './failures.ts';

const mostFeeds = 20;

/** The ToolError for a code other than 1, which is success. Nothing was subscribed to. */
export function refusal(url: string, result: JsonReader): ToolError {
  const code = result.number('code');
  switch (code) {
    case 0:
      return invalid(
        `The person is subscribed to it already: it is feed ${result.number('feed_id')}.`,
        'ALREADY_SUBSCRIBED',
      );
    case 2:
      return invalid(`${url} is not an address that the reader accepts.`);
    case 3:
      return missing(`The page ${url} names no feed. Look for one on the site.`, 'NO_FEED_FOUND');
    case 4:
      return several(url, result);
    case 5:
      return unreachable(url, result.maybe('message')?.string() ?? '', 'not_executed');
  }
  return siteError(`code ${code} for ${url}`, 'not_executed');
}

function several(url: string, result: JsonReader): ToolError {
  const feeds = result.entries('feeds').slice(0, mostFeeds);
  const named = feeds.map(([address, title]) => ({ url: address, title: title.string() }));
  const addresses = named.map((one) => one.url).join(' ');
  return new ToolError(
    `${url} names several feeds, of which one is to be subscribed to: ${addresses}`,
    'SEVERAL_FEEDS',
    { category: 'validation', outcome: 'not_executed', data: { feeds: named } },
  );
}
