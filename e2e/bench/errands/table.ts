// The table of the comparison.

import type { Server } from './ground.ts';

export interface Run {
  errand: string;
  server: Server;
  success: boolean;
  begun: boolean;
  calls: number;
  tokens: number;
  ms: number;
  /** Tokens of what stands in the agent's context before: the list of tools, or the skill. */
  known: number;
  why?: string;
}

const names: Record<Server, string> = {
  tabrelay: 'tabrelay',
  scripts: 'tabrelay, by scripts',
  shell: 'tabrelay, from a shell',
  playwright: 'Playwright MCP',
  code: 'Playwright MCP, by code',
  devtools: 'chrome-devtools-mcp',
  'agent-browser': 'agent-browser',
};

const cell = ({ success, calls, tokens, ms }: Run): string =>
  `${success ? '' : '**failed**, '}${calls} / ${tokens} / ${(ms / 1000).toFixed(1)} s`;

/** What was measured, as a table of Markdown: calls, tokens and time of each errand. */
export function table(runs: readonly Run[]): string {
  const present = Array.from(new Set(runs.map(({ server }) => server)));
  const errands = Array.from(new Set(runs.map(({ errand }) => errand)));
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const of = (server: Server) => runs.filter((one) => one.server === server);
  const sum = (server: Server, what: 'calls' | 'tokens' | 'ms') =>
    of(server).reduce((total, one) => total + one[what], 0);
  return [
    row(['errand (calls / tokens / time)', ...present.map((server) => names[server])]),
    row(['---', ...present.map(() => '---')]),
    ...errands.map((errand) =>
      row([
        errand,
        ...present.map((server) =>
          of(server)
            .filter((one) => one.errand === errand)
            .map(cell)
            .join(''),
        ),
      ]),
    ),
    row([
      '**success**',
      ...present.map(
        (server) => `${of(server).filter(({ success }) => success).length} of ${of(server).length}`,
      ),
    ]),
    row(['**calls**', ...present.map((server) => sum(server, 'calls'))]),
    row(['**tokens**', ...present.map((server) => sum(server, 'tokens'))]),
    row(['**time**', ...present.map((server) => `${(sum(server, 'ms') / 1000).toFixed(0)} s`)]),
    row(['list of tools or skill, once, tokens', ...present.map((server) => of(server)[0]?.known ?? 0)]),
  ].join('\n');
}
