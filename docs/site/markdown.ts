// The pages are written for a Git host. Here their links are turned to the pages of the site.

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { MarkdownEnv, MarkdownRenderer } from 'vitepress';
import { addressOf, fileOf, places, repository } from './menu.ts';

/** The anchor of a heading, as GitHub makes it. cmd/tabrelay/docs_test.go checks links against the same. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\-_ ]/gu, '')
    .replaceAll(' ', '-');
}

export function turnLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('tabrelay-links', (state) => {
    const env: MarkdownEnv = state.env;
    const from = path.relative(repository, env.realPath ?? env.path).replaceAll(path.sep, '/');
    for (const block of state.tokens) {
      let dropped = false; // a link within a link cannot be
      block.children = (block.children ?? []).filter((token) => {
        if (token.type === 'link_open') {
          const target = turned(from, token.attrGet('href') ?? '');
          dropped = target === undefined;
          if (target !== undefined) token.attrSet('href', target);
          return !dropped;
        }
        return !(token.type === 'link_close' && dropped);
      });
    }
  });
}

/** The address of a link within the site; of a file that is only in the repository there is none. */
function turned(from: string, link: string): string | undefined {
  if (/^[a-z]+:/i.test(link) || link.startsWith('#')) return link;
  const [file = '', anchor] = link.split('#');
  const target = fileOf(from, decodeURI(file));
  const place = places.get(target);
  if (place !== undefined) return addressOf(place) + (anchor ? `#${anchor}` : '');
  if (!existsSync(path.join(repository, target))) throw new Error(`${from}: ${link} leads nowhere`);
  return undefined;
}

/** Braces are text in these pages; to Vue, which draws them, two would begin a program. */
export function keepBraces(markdown: MarkdownRenderer): void {
  for (const kind of ['text', 'code_inline', 'html_inline', 'html_block']) {
    const draw = markdown.renderer.rules[kind];
    markdown.renderer.rules[kind] = (...given) => (draw?.(...given) ?? '').replaceAll('{{', '&#123;&#123;');
  }
}

/** A table's first cell that says nothing heads nothing. */
export function keepHeadersSpeaking(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('tabrelay-headers', ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'inline' && token.content === '' && tokens[at - 1]?.type === 'th_open')
        for (const cell of [tokens[at - 1], tokens[at + 1]]) if (cell) cell.tag = 'td';
    }
  });
}

/** Indented code looks like code between fences. */
export function fenceCode(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('tabrelay-code', ({ tokens }) => {
    for (const token of tokens) {
      if (token.type !== 'code_block') continue;
      token.type = 'fence';
      token.info = 'txt';
    }
  });
}
