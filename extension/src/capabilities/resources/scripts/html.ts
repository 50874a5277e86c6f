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
  const copy = blank().importNode(root, true);
  // The extension's own mark is no part of the page (bridge/mark.ts). The page does not see this variable.
  const mark = Array.prototype.indexOf.call(root.children, Reflect.get(globalThis, 'tabrelayMark'));
  cleanAll(copy, root);
  if (mark >= 0) copy.children[mark]?.remove();
  return copy.outerHTML;
};

// In a document without a window nothing runs: no custom element, no image, no script. A page can name an element
// `implementation`, which then stands in for that member of its document.
const blank = (): Document =>
  Reflect.get(Document.prototype, 'implementation', document).createHTMLDocument('');

// Cleans what is in a copy; which fields are for secrets is seen in the original.
function cleanAll(copy: Element, original = copy): void {
  const fields = 'input, textarea';
  const copied = copy.querySelectorAll(fields);
  original.querySelectorAll(fields).forEach((field, i) => {
    if (sensitivity(field) !== undefined) emptied(copied[i]);
  });
  for (const element of copy.querySelectorAll('script, style')) element.textContent = '';
  for (const element of copy.querySelectorAll('input[type=hidden i], input[type=password i]'))
    emptied(element);
  for (const element of copy.querySelectorAll('meta[name*=csrf i], meta[name*=token i]'))
    element.removeAttribute('content');
  for (const element of copy.querySelectorAll('template'))
    if (element instanceof HTMLTemplateElement) cleanTemplate(element);
  for (const element of copy.querySelectorAll(texts)) element.textContent = cleaned(element.textContent);
  for (const frame of copy.querySelectorAll('iframe[srcdoc]'))
    frame.setAttribute('srcdoc', cleaned(frame.getAttribute('srcdoc') ?? ''));
  for (const element of copy.querySelectorAll('*')) clean(element);
}

// The elements whose markup is a text, for browsers without scripts or without frames.
const texts = 'noscript, noembed, noframes, iframe';

// What is in a template is no part of the document around it. Its fields have labels only in a document.
function cleanTemplate({ content }: HTMLTemplateElement): void {
  const { body } = blank();
  body.append(content);
  cleanAll(body);
  for (const node of Array.from(body.childNodes)) content.append(node);
}

function cleaned(markup: string): string {
  const template = blank().createElement('template');
  template.innerHTML = markup;
  cleanTemplate(template);
  return template.innerHTML;
}

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
