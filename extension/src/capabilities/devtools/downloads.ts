// Downloads from the site that a tab shows. What else the person has downloaded is nobody's business.

import { redact } from '../../browser/dev/redact.ts';
import { isNumber, isText } from '../../shared/guards.ts';
import type { ToolHandler } from '../../worker/calls/tool-runner.ts';
import { permitted } from './needed.ts';
import { shownBy } from './site.ts';

const mostSearched = 1000;

const originOf = (url: string): string => {
  const bare = url.startsWith('blob:') ? url.slice(5) : url;
  return URL.canParse(bare) ? new URL(bare).origin : '';
};

export const downloads: ToolHandler = async (run) => {
  await permitted('downloads', 'downloads');
  const { state, contains, limit } = run.args;
  const { origin: site } = await shownBy(run);
  const words = isText(contains) ? contains.toLowerCase() : '';
  const all = await chrome.downloads.search({ orderBy: ['-startTime'], limit: mostSearched });
  const found = all.filter(
    (item) =>
      [item.url, item.finalUrl, item.referrer].some((address) => originOf(address) === site) &&
      [item.url, item.finalUrl].every((address) => run.border.state(originOf(address)) === 'open') &&
      (state === undefined || item.state === state) &&
      `${item.filename} ${item.url}`.toLowerCase().includes(words),
  );
  return {
    site,
    downloads: found.slice(0, isNumber(limit) ? limit : 20).map((item) => ({
      id: item.id,
      state: item.state,
      file: item.filename,
      url: redact(item.url.slice(0, 2000)),
      type: item.mime,
      bytes: item.bytesReceived,
      ...(item.totalBytes >= 0 && { totalBytes: item.totalBytes }),
      started: item.startTime,
      ...(item.endTime !== undefined && { ended: item.endTime }),
      ...(item.error !== undefined && { error: item.error }),
      ...(item.danger !== 'safe' && { danger: item.danger }),
      ...(!item.exists && item.state === 'complete' && { gone: true }),
    })),
    total: found.length,
  };
};
