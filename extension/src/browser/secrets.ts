// Fields whose content stays in the page: passwords, also one that the page shows, one-time codes, payment cards.
import { attribute, byId, closest, matches, textOf, within } from './dom.ts';
import { labelsOf } from './labels.ts';
import { apart, type Sensitivity, secretIn } from './secretwords.ts';

const kinds: readonly (readonly [Sensitivity, string])[] = [
  ['password', 'input[type="password" i], [autocomplete*="password" i], [name*="passw" i], [id*="passw" i]'],
  ['code', '[autocomplete*="one-time-code" i], [name="otp" i], [name="totp" i], [name*="2fa" i]'],
  [
    'payment',
    '[autocomplete*="cc-" i], [name*="cvc" i], [name*="cvv" i], [name*="cardnumber" i], ' +
      '[name*="card-number" i], [name*="card_number" i]',
  ],
  ['secret', '[name*="secret" i], [name*="token" i], [name*="apikey" i], [name*="api_key" i]'],
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
  return were.has(element) ? 'password' : byWords(element);
}

// Whether what is typed is drawn as dots.
const isDotted = (field: Element): boolean =>
  !['', 'none'].includes(getComputedStyle(field).getPropertyValue('-webkit-text-security'));

const typed = ['', 'text', 'tel', 'number'];
const searched =
  '[role="searchbox" i], [role="search" i] *, [autocomplete="postal-code" i], [autocomplete*="name" i]';

// A person knows by its label what a field is for, and whoever wrote the page by its name.
function byWords(element: HTMLInputElement | HTMLTextAreaElement): Sensitivity | undefined {
  const type = attribute(element, 'type')?.toLowerCase() ?? '';
  if (element instanceof HTMLInputElement && !typed.includes(type)) return undefined;
  if (matches(element, searched) || onlyKeepsChromeAway(element)) return undefined;
  if (element instanceof HTMLInputElement && isDotted(element)) return 'password';
  const of = (name: string) => attribute(element, name) ?? '';
  const referred = of('aria-labelledby')
    .split(/\s+/)
    .flatMap((id) => byId(element, id) ?? []);
  const all = [
    of('aria-label'),
    of('placeholder'),
    of('title'),
    ...[...referred, ...labelsOf(element), ...partOf(element)].map((one) => textOf(one).slice(0, 200).trim()),
    apart(of('name')),
    apart(of('id')),
    apart(of('data-testid')),
  ];
  for (const words of all) {
    const kind = words === '' ? undefined : secretIn(words);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

const mostParts = 20; // fields in the group of a code: in a larger form, a heading says nothing of one of them

// A code is often typed into a field for each of its characters, under one heading.
function partOf(element: HTMLInputElement | HTMLTextAreaElement): Element[] {
  if (attribute(element, 'maxlength') !== '1') return [];
  const group = closest(element, 'fieldset, [role="group" i], form');
  if (group === null) return [];
  const isForm = group instanceof HTMLFormElement || group instanceof HTMLFieldSetElement;
  const fields = isForm ? group.elements.length : within(group, 'input').length;
  return fields > mostParts ? [] : [group];
}
