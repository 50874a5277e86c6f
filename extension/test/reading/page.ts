// Opens a fixture as the page that the tools read.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Window } from 'happy-dom';

// There is one window, and it is there before the code under test is loaded, as in a page.
const window = new Window({ url: 'http://shop.test/page?x=1' });
for (const name of Object.getOwnPropertyNames(window)) {
  if (!(name in globalThis)) Reflect.set(globalThis, name, Reflect.get(window, name));
}

/** Makes markup, or a file of testdata, the page at http://shop.test/. */
export function openPage(source: string): void {
  const file = path.join(import.meta.dirname, '../testdata', source);
  const markup = source.endsWith('.html') ? readFileSync(file, 'utf8') : source;
  window.document.open();
  window.document.write(markup.replaceAll(/<script>[\s\S]*?<\/script>/g, ''));
  // happy-dom lays nothing out: what a style of the fixtures hides counts as hidden.
  Reflect.set(window.Element.prototype, 'checkVisibility', function (this: Element) {
    return this.closest('.gone, [hidden]') === null;
  });
}
