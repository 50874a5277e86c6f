// Fields whose content stays in the page: passwords, also one that the page shows, one-time codes, payment cards.
import { attribute, matches } from './dom.ts';

/** Why a field is sensitive. Acting on one asks the person, whatever else they have allowed. */
export type Sensitivity = 'password' | 'payment' | 'code' | 'secret';

const kinds: readonly (readonly [Sensitivity, string])[] = [
  [
    'password',
    'input[type="password" i], [autocomplete*="password" i], input[name*="passw" i], input[id*="passw" i]',
  ],
  [
    'code',
    '[autocomplete*="one-time-code" i], input[name="otp" i], input[name="totp" i], input[name*="2fa" i]',
  ],
  [
    'payment',
    '[autocomplete*="cc-" i], input[name*="cvc" i], input[name*="cvv" i], input[name*="cardnumber" i], ' +
      'input[name*="card-number" i], input[name*="card_number" i]',
  ],
  [
    'secret',
    'input[name*="secret" i], input[name*="token" i], input[name*="apikey" i], input[name*="api_key" i]',
  ],
];

// Pages ask for a new password in boxes that offer options, so that Chrome offers none of its own there.
const onlyKeepsChromeAway = (element: Element): boolean =>
  matches(element, '[autocomplete="new-password" i]') &&
  matches(element, '[role="combobox" i], [role="searchbox" i], [type="search" i], [aria-autocomplete]') &&
  !matches(element, '[type="password" i]') &&
  !/pass|pwd|pin|secret|token|kennwort|contrase|senha/i.test(
    `${element.id} ${attribute(element, 'name') ?? ''}`,
  );

const were = new WeakSet<Element>(); // a page that shows what was typed as a password makes it a text field

/** Why a field is sensitive; undefined for one that is not. */
export function sensitivity(element: Element): Sensitivity | undefined {
  if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement)) return undefined;
  for (const [kind, selector] of kinds) {
    if (!matches(element, selector) || (kind === 'password' && onlyKeepsChromeAway(element))) continue;
    if (attribute(element, 'type')?.toLowerCase() === 'password') were.add(element);
    return kind;
  }
  return were.has(element) ? 'password' : undefined;
}
