// What reads the page as that SDK does: null where ours answers undefined, texts with their line breaks, and nothing
// where a selector is no selector.

import * as dom from '../dom.ts';

export function querySelectorAll<E extends Element = Element>(selector: string): E[] {
  try {
    return dom.querySelectorAll<E>(selector);
  } catch {
    return [];
  }
}

export function getTextContent(selector: string): string | null {
  const [first] = querySelectorAll(selector);
  return first?.textContent?.trim() ?? null;
}

export const getMetaContent = (name: string): string | null => dom.getMetaContent(name) ?? null;
