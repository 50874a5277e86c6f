// What a page is made of, as markup, for whoever reads tab://ID/html: without what fields for secrets hold, and without
// the credentials in its addresses and data. Put into the isolated world before it is asked for (reading.ts).

import { redact } from '../../../browser/dev/redact.ts';
import { sensitivity } from '../../../browser/secrets.ts';

declare global {
  /** The document's markup; see page/read.ts. */
  var tabrelayHtml: ((root: Element) => string) | undefined;
}

const addresses = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'data',
  'content',
  'poster',
  'ping',
  'value',
]);

globalThis.tabrelayHtml = (root) => {
  // In a document without a window nothing of the copy runs: no custom element, no image, no script.
  const copy = document.implementation.createHTMLDocument('').importNode(root, true);
  const fields = 'input, textarea';
  const copied = copy.querySelectorAll(fields);
  root.querySelectorAll(fields).forEach((field, i) => {
    if (sensitivity(field) !== undefined) emptied(copied[i]);
  });
  // The extension's own mark is no part of the page (bridge/mark.ts). The page does not see this variable.
  const mark = Array.prototype.indexOf.call(root.children, Reflect.get(globalThis, 'tabrelayMark'));
  if (mark >= 0) copy.children[mark]?.remove();
  for (const element of copy.querySelectorAll('script, style')) element.textContent = '';
  for (const element of copy.querySelectorAll('input[type=hidden i], input[type=password i]'))
    emptied(element);
  for (const element of copy.querySelectorAll('meta[name*=csrf i], meta[name*=token i]'))
    element.removeAttribute('content');
  for (const element of copy.querySelectorAll('*')) clean(element);
  return copy.outerHTML;
};

// A field as if nothing were in it.
function emptied(field: Element | undefined): void {
  if (field instanceof HTMLTextAreaElement) field.textContent = '';
  for (const name of field?.getAttributeNames() ?? [])
    if (name === 'value' || name.startsWith('data-') || name.startsWith('aria-value'))
      field?.removeAttribute(name);
}

function clean(element: Element): void {
  for (const name of element.getAttributeNames()) {
    if (!addresses.has(name) && !name.startsWith('data-') && !name.startsWith('on')) continue;
    const value = element.getAttribute(name) ?? '';
    const told = redact(value);
    if (told !== value) element.setAttribute(name, told);
  }
}
