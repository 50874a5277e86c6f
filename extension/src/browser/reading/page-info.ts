import { attribute } from './members.ts';
import { canonical, feeds, metaTags, openGraph, statements } from './metadata.ts';
import { cut, here, root } from './page.ts';
import type { Reading } from './request.ts';
import { find } from './shown.ts';

export function pageInfo(_: Reading) {
  const meta = metaTags();
  const { description = '', ...others } = meta;
  return {
    ...here(),
    description,
    language: cut(attribute(root(), 'lang'), 35),
    canonical: canonical(),
    openGraph: openGraph(),
    meta: others,
    feeds: feeds(),
    jsonLd: statements(),
    frames: Array.from(find('iframe, frame')).length,
  };
}
