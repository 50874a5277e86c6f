import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig, type HeadConfig } from 'vitepress';
import { checkSite } from '../check.ts';
import { fenceCode, keepBraces, keepHeadersSpeaking, slug, turnLinks } from '../markdown.ts';
import { nav, places, repository, sidebar } from '../menu.ts';
import { writeForModels } from '../models.ts';

// Nothing comes from elsewhere, and nothing can: the browser itself refuses it.
const policy = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'", // VitePress sets light or dark before the first picture is drawn
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
].join('; ');

const policyTag: HeadConfig = ['meta', { 'http-equiv': 'Content-Security-Policy', content: policy }];
const building = process.env.NODE_ENV === 'production';
const icon = readFileSync(path.join(repository, 'extension/icons/32.png'), 'base64');

// The pages lie outside this folder, from where Vue would not be found.
const vueFromHere: Plugin = {
  name: 'vue-from-here',
  enforce: 'pre',
  resolveId(source, _importer, { ssr }) {
    return ssr && /^vue(\/|$)/.test(source) ? { id: source, external: true } : null;
  },
};

const title = 'tabrelay';
const description = 'Let AI agents use the web applications you are signed in to';
const base = process.env.BASE || '/'; // of an address such as https://example.org/tabrelay/

export default defineConfig({
  title,
  description,
  base,
  srcDir: '../..',
  srcExclude: ['README.md', '{adapters,cmd,e2e,extension,packaging,plugin-sdk}/**', 'docs/site/**'],
  rewrites: Object.fromEntries(places),
  outDir: 'dist',
  cacheDir: '.vitepress/cache',
  lang: 'en',
  metaChunk: true,
  head: [
    ['link', { rel: 'icon', href: `data:image/png;base64,${icon}` }],
    ...(building ? [policyTag] : []), // while writing, the page asks the server for what has changed
  ],
  vite: { plugins: [vueFromHere] },
  markdown: {
    linkify: false, // an address in the text is often one of the reader's own machine
    attrs: { disable: true }, // braces are text, as on a Git host
    anchor: { slugify: slug },
    config(markdown) {
      turnLinks(markdown);
      fenceCode(markdown);
      keepBraces(markdown);
      keepHeadersSpeaking(markdown);
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    nav,
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    externalLinkIcon: true,
  },
  buildEnd({ outDir, pages }) {
    const lost = pages.filter((page) => !places.has(page));
    if (lost.length > 0) throw new Error(`no door of docs/README.md leads to ${lost.join(', ')}`);
    checkSite(outDir);
    writeForModels(outDir, base, title, description);
  },
});
