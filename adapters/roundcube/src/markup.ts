// What stands in pages of Roundcube.

import { parseHTML } from '@tabrelay/plugin-sdk/html';

/** The names and addresses of a header cell. */
export function people(html: string): string {
  const body = parseHTML(html).body;
  for (const one of body.querySelectorAll('.rcmContactAddress[title]')) {
    const name = one.textContent ?? '';
    const mail = one.getAttribute('title') ?? '';
    one.textContent = name === mail || mail === '' ? name : `${name} <${mail}>`;
  }
  return (body.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
}
