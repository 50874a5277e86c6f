// By which changes the person gets mail.

import * as s from '@tabrelay/plugin-sdk/schema';
import { open, partOf, type Shown } from './api.ts';
import { nameOf } from './pages.ts';
import { script } from './wiki.ts';

export const styles = ['every', 'digest', 'list'] as const;

/** JSON Schema of the subscriptions that count for a page. */
export const subscriptionsOutput = s.array(
  s.object({
    target: s.string('The page, or its namespace with ":" behind it.'),
    style: s.string(
      'every: mail for each change; digest: changes together; list: only names of pages.',
    ),
  }),
  { maxItems: 100 },
);

export async function subscriptionPage(id: string, signal: AbortSignal): Promise<Shown> {
  const shown = await open({ do: 'subscribe', id: nameOf(id) }, signal);
  partOf(shown.page, '#subscribe__form');
  return shown;
}

/** Those that the wiki offers to end. */
export const subscriptionsOf = (page: Document) =>
  [...page.querySelectorAll('a.unsubscribe')].map((link) => {
    const { searchParams } = new URL(link.getAttribute('href') ?? '', script());
    return {
      target: searchParams.get('sub_target') ?? '',
      style: searchParams.get('sub_style') ?? '',
    };
  });
