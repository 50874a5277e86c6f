import { defineTool, withFreshToken } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { errors, submit, tokenOf } from '../api.ts';
import * as failures from '../failures.ts';
import { idInput } from '../pages.ts';
import {
  styles,
  subscriptionPage,
  subscriptionsOf,
  subscriptionsOutput,
} from '../subscriptions.ts';

export const subscribe = defineTool({
  name: 'subscribe',
  displayName: 'Subscribe or unsubscribe',
  description:
    'Lets the signed-in person get mail when a page or its namespace changes, or no more. Answers the ' +
    'subscriptions that count for the page then.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: s.parameters({
    id: idInput,
    scope: s.choice(['page', 'namespace'], 'namespace: all pages beside it and below.', {
      default: 'page',
    }),
    style: s.choice(
      styles,
      'Each change, changes together, or (of a namespace) only names of pages.',
      {
        default: 'every',
      },
    ),
    subscribed: s.boolean('false ends the subscription.', { default: true }),
  }),
  output: s.object({ id: s.string(), subscriptions: subscriptionsOutput }),
  handle({ id: name, scope, style, subscribed }, { signal }) {
    if (scope === 'page' && style === 'list') throw failures.invalid('"list" is for namespaces.');
    const fresh = { get: () => subscriptionPage(name, signal), isRefused: failures.isTokenRefused };
    return withFreshToken(fresh, async ({ id, page }) => {
      const target = scope === 'page' ? id : id.replace(/[^:]*$/, '') || ':';
      const known = subscriptionsOf(page).find((one) => one.target === target);
      if (subscribed ? known?.style !== style : known !== undefined) {
        const action = subscribed ? 'subscribe' : 'unsubscribe';
        const asked = { sub_action: action, sub_target: target, sub_style: known?.style ?? style };
        const sub_style = subscribed ? style : asked.sub_style;
        const sent = { do: 'subscribe', id, ...asked, sub_style, sectok: tokenOf(page) };
        const shown = await submit(sent, signal);
        const said = errors(shown.page);
        if (said.includes('Security Token did not match')) throw failures.tokenRefused();
        if (shown.action === 'subscribe' && said !== '') throw failures.invalid(said);
      }
      const after = await subscriptionPage(id, signal);
      return { id, subscriptions: subscriptionsOf(after.page).slice(0, 100) };
    });
  },
});
