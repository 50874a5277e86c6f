import {
  defineTool,
  getCurrentUrl,
  getMetaContent,
  getPageGlobal,
  getPageTitle,
  getTextContent,
  observeDOM,
  querySelectorAll,
  waitForSelector,
  waitForSelectorRemoval,
} from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';

const selector = z.object({ selector: z.string().describe('A CSS selector') });
const text = z.object({ text: z.string().nullable() });

const readUrl = defineTool({
  name: 'read_url',
  displayName: 'Read URL',
  description: 'The address of the page',
  icon: 'link',
  group: 'Page',
  input: z.object({}),
  output: z.object({ url: z.string() }),
  handle: async () => ({ url: getCurrentUrl() }),
});

const readTitle = defineTool({
  name: 'read_title',
  description: 'The title of the page',
  input: z.object({}),
  output: text,
  handle: async () => ({ text: getPageTitle() }),
});

const readGlobal = defineTool({
  name: 'read_global',
  description: 'A global of the page by its path',
  input: z.object({ path: z.string() }),
  output: z.object({ value: z.unknown() }),
  handle: async ({ path }) => ({ value: getPageGlobal(path) ?? null }),
});

const readText = defineTool({
  name: 'read_text',
  description: 'The text of an element',
  input: selector,
  output: text,
  handle: async (params) => ({ text: getTextContent(params.selector) }),
});

const readMeta = defineTool({
  name: 'read_meta',
  description: 'The content of a meta element',
  input: z.object({ name: z.string() }),
  output: text,
  handle: async ({ name }) => ({ text: getMetaContent(name) }),
});

const listElements = defineTool({
  name: 'list_elements',
  description: 'The texts of all elements that match',
  input: selector,
  output: z.object({ texts: z.array(z.string()) }),
  handle: async (params) => ({
    texts: querySelectorAll(params.selector).map((one) => one.textContent ?? ''),
  }),
});

const awaitElement = defineTool({
  name: 'await_element',
  description: 'Waits for an element that comes after a while',
  input: z.object({}),
  output: text,
  async handle() {
    setTimeout(() => document.body.append(Object.assign(document.createElement('b'), { id: 'late' })), 30);
    const found = await waitForSelector('#late', { timeout: 2000 });
    return { text: found.id };
  },
});

const awaitRemoval = defineTool({
  name: 'await_removal',
  description: 'Waits until that element is gone',
  input: z.object({}),
  output: z.object({ gone: z.boolean() }),
  async handle() {
    setTimeout(() => document.querySelector('#late')?.remove(), 30);
    await waitForSelectorRemoval('#late', { timeout: 2000 });
    return { gone: document.querySelector('#late') === null };
  },
});

const watchElement = defineTool({
  name: 'watch_element',
  description: 'Counts the changes of the body',
  input: z.object({}),
  output: z.object({ changes: z.number() }),
  async handle() {
    let changes = 0;
    const stop = observeDOM('body', (records) => {
      changes += records.length;
    });
    document.body.append(document.createElement('i'));
    await Promise.resolve();
    stop();
    return { changes };
  },
});

export const domTools = [
  readUrl,
  readTitle,
  readGlobal,
  readText,
  readMeta,
  listElements,
  awaitElement,
  awaitRemoval,
  watchElement,
];
