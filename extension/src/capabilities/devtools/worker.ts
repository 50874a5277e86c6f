// The tools for developers.
import type { Attach } from '../../worker/core/capability.ts';
import { cookies } from './cookies.ts';
import { downloads } from './downloads.ts';
import { evaluating } from './evaluating.ts';
import { DevNetwork, watchingNetwork } from './network.ts';
import { DevPages, inDocument, readingConsole } from './pages.ts';
import { emulating, printing } from './trusted.ts';

export const devtools: Attach = ({ documents }) => {
  const pages = new DevPages(documents);
  return {
    handlers: {
      console: readingConsole(pages),
      network: watchingNetwork(new DevNetwork(), pages),
      evaluate: evaluating(pages),
      pdf: printing(documents),
      emulate: emulating,
      storage: inDocument(pages, false),
      cookies,
      downloads,
      performance: inDocument(pages, false),
    },
  };
};
