import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { idInput } from '../pages.ts';
import { subscriptionPage, subscriptionsOf, subscriptionsOutput } from '../subscriptions.ts';

export const listSubscriptions = defineTool({
  name: 'list_subscriptions',
  displayName: 'Subscriptions to a page',
  description:
    'Whether the signed-in person gets mail when a page changes: subscriptions of the page itself and of the ' +
    'namespaces it is in.',
  annotations: { readOnlyHint: true },
  input: s.parameters({ id: idInput }),
  output: s.object({ id: s.string(), subscriptions: subscriptionsOutput }),
  async handle({ id: name }, { signal }) {
    const { id, page } = await subscriptionPage(name, signal);
    return { id, subscriptions: subscriptionsOf(page).slice(0, 100) };
  },
});
