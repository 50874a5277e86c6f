// What the comparison measured, and its page: the tables, and all that tabrelay loses, are made of the measurements.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { repository } from '../../stage/paths.ts';
import { type Server, servers } from './ground.ts';

/** The servers of the comparison, tabrelay first. */
export const compared = ['tabrelay', 'playwright', 'devtools', 'agent-browser'] as const;
/** tabrelay's other ways to do an errand, and the code that Playwright MCP runs. */
export const ways = ['scripts', 'shell', 'code'] as const;

const serverName = z.enum(servers);

/** When something was measured, with which commit, and the load average of the minute before. */
const Measured = z.object({ date: z.string(), commit: z.string(), load: z.number() });

const Done = z.object({
  errand: z.string(),
  server: serverName,
  runs: z.number(),
  done: z.number(),
  calls: z.number(),
  tokens: z.number(),
  /** Milliseconds; 0 where only calls and tokens were noted. */
  ms: z.number(),
  /** Why it was not done, of the first run that failed. */
  why: z.string().optional(),
  measured: Measured,
});
type Done = z.infer<typeof Done>;

const Comparison = z.object({
  machine: z.object({
    system: z.string(),
    processor: z.string(),
    cores: z.number(),
    memoryGB: z.number(),
    chromium: z.string(),
    node: z.string(),
  }),
  servers: z.array(
    z.object({
      server: serverName,
      version: z.string(),
      /** Tokens of the JSON of all tools in the answer to `tools/list`; ways have that of their server. */
      toolsList: z.number().optional(),
      /** Tokens of what the agent of the errands has read before its first call. */
      instructions: z.number(),
    }),
  ),
  errands: z.array(Done),
  /** Errands of many like steps. */
  loops: z.array(Done),
  /** Tokens of a first look, of the whole page, of a look where nothing changed, and of one after one text did. */
  looks: z.array(
    z.object({ page: z.string(), server: serverName, tokens: z.array(z.number()), measured: Measured }),
  ),
});
export type Comparison = z.infer<typeof Comparison>;

export const measurements = path.join(import.meta.dirname, 'comparison.json');
export const page = path.join(repository, 'docs/browser-comparison.md');

export async function readMeasurements(): Promise<Comparison> {
  return Comparison.parse(JSON.parse(await readFile(measurements, 'utf8')));
}

const names: Record<Server, string> = {
  tabrelay: 'tabrelay',
  playwright: 'Playwright MCP',
  devtools: 'chrome-devtools-mcp',
  'agent-browser': 'agent-browser',
  scripts: 'by scripts',
  shell: 'from a shell',
  code: 'its code',
};

const whole = (one: Done | undefined): one is Done => one !== undefined && one.done === one.runs;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
const heading = (first: string, columns: readonly Server[] = compared): string[] => [
  row([first, ...columns.map((server) => names[server])]),
  row(['---', ...columns.map(() => '---')]),
];
const distinct = (all: readonly string[]): string[] => Array.from(new Set(all));

// What a server or a page said is shown as such: one line, as code, nothing that a table or Markdown would read.
const said = (text: string): string => `\`${text.replaceAll(/[`|<>\s]+/g, ' ').trim()}\``;

const find = (all: readonly Done[], errand: string, server: Server): Done | undefined =>
  all.find((one) => one.errand === errand && one.server === server);

const span = (all: readonly (string | number)[]): string => {
  const sorted = all.toSorted((a, b) => (a < b ? -1 : 1));
  const [first, last] = [sorted.at(0) ?? '', sorted.at(-1) ?? ''];
  return first === last ? String(first) : `${first} to ${last}`;
};

function measured({ machine, servers, errands, loops, looks }: Comparison): string {
  const runs = Math.max(...errands.map((one) => one.runs));
  const about = servers.map(({ server, version }) => {
    const rows = [...errands, ...loops, ...looks]
      .filter((one) => one.server === server)
      .map((one) => one.measured);
    const commits = distinct(rows.map(({ commit }) => commit)).join(', ');
    return row([
      ...[names[server], version, span(rows.map(({ date }) => date)), commits],
      span(rows.map(({ load }) => load)),
    ]);
  });
  return [
    `${runs === 1 ? 'Each errand was done once' : `Medians of up to ${runs} runs`}, in ${machine.chromium} under`,
    `Node ${machine.node}, on ${machine.system}: ${machine.processor}, ${machine.cores} cores, ${machine.memoryGB} GB.`,
    '',
    row(['server', 'version', 'measured on', 'at commit', 'load average of the minute before']),
    row(['---', '---', '---', '---', '---']),
    ...about,
  ].join('\n');
}

function errandCell(one: Done | undefined): string {
  if (one === undefined) return 'not measured';
  const failed = one.runs === 1 ? '**failed**, ' : `**done ${one.done} of ${one.runs}**, `;
  return `${whole(one) ? '' : failed}${one.calls} / ${one.tokens}${one.ms > 0 ? ` / ${seconds(one.ms)}` : ''}`;
}

/** A row for each errand, a column for each server, and the sums. */
function costs(rows: readonly Done[], columns: readonly Server[], first: string): string[] {
  const of = (server: Server) => rows.filter((one) => one.server === server);
  const sum = (server: Server, what: 'calls' | 'tokens' | 'ms') =>
    of(server).reduce((total, one) => total + one[what], 0);
  return [
    ...heading(first, columns),
    ...distinct(rows.map(({ errand }) => errand)).map((errand) =>
      row([errand, ...columns.map((server) => errandCell(find(rows, errand, server)))]),
    ),
    row([
      '**done**',
      ...columns.map((server) => `${of(server).filter(whole).length} of ${of(server).length}`),
    ]),
    row(['**calls**', ...columns.map((server) => sum(server, 'calls'))]),
    row(['**tokens**', ...columns.map((server) => sum(server, 'tokens'))]),
    row(['**time**', ...columns.map((server) => seconds(sum(server, 'ms')))]),
  ];
}

/** What a failed errand ended with. */
function failures(rows: readonly Done[]): string[] {
  const failed = rows.filter((one) => !whole(one));
  if (failed.length === 0) return [];
  const why = ({ errand, server, why }: Done) =>
    `- ${names[server]}, ${errand}: ${why === undefined ? 'the site says otherwise' : said(why)}`;
  return ['', 'What failed ended with:', '', ...failed.map(why)];
}

function errandTable({ errands }: Comparison): string {
  const rows = errands.filter(({ server }) => compared.some((one) => one === server));
  return [...costs(rows, compared, 'errand: calls / tokens / time'), ...failures(rows)].join('\n');
}

function wayTable({ errands, servers }: Comparison): string {
  const columns = ['tabrelay', 'scripts', 'shell'] as const;
  const rows = errands.filter(({ server }) => columns.some((one) => one === server));
  const read = columns.map(
    (server) => servers.find((one) => one.server === server)?.instructions ?? 'not measured',
  );
  const ofWays = rows.filter(({ server }) => server !== 'tabrelay');
  return [
    ...costs(rows, columns, 'errand: calls / tokens / time'),
    row(['tokens that an agent has read before', ...read]),
    ...failures(ofWays),
  ].join('\n');
}

function loopTable({ loops }: Comparison): string {
  return [...costs(loops, servers, 'errand of many like steps'), ...failures(loops)].join('\n');
}

function listTable({ servers }: Comparison): string {
  const of = (what: 'toolsList' | 'instructions') =>
    compared.map((server) => servers.find((one) => one.server === server)?.[what] ?? 'not measured');
  return [
    ...heading('tokens, once'),
    row(['the JSON of `tools/list`', ...of('toolsList')]),
    row(['what the agent of the errands had read', ...of('instructions')]),
  ].join('\n');
}

function lookTable({ looks }: Comparison): string {
  const cell = (name: string, server: Server) =>
    looks.find((one) => one.page === name && one.server === server)?.tokens.join(' / ') ?? 'not measured';
  return [
    ...heading('page: first / whole / unchanged / one text changed'),
    ...distinct(looks.map((one) => one.page)).map((name) =>
      row([name, ...compared.map((server) => cell(name, server))]),
    ),
  ].join('\n');
}

const others = compared.filter((server) => server !== 'tabrelay');

// Where it says nothing, nothing is lost.
function against(what: string, server: Server, lost: readonly (string | false)[]): string[] {
  const told = lost.filter((one) => one !== false);
  return told.length === 0 ? [] : [`- ${what}: ${names[server]} ${told.join(', ')}`];
}

/** Every row in which another server does what tabrelay does not, or needs fewer calls, fewer tokens or less time. */
export function losses(all: Comparison): string[] {
  const less = (theirs: number, ours: number, unit: string): string | false =>
    theirs < ours && `${theirs} ${unit} to ${ours}`;
  const inErrands = distinct(all.errands.map(({ errand }) => errand)).flatMap((errand) =>
    others.flatMap((server) => {
      const [ours, theirs] = [find(all.errands, errand, 'tabrelay'), find(all.errands, errand, server)];
      if (ours === undefined || theirs === undefined || theirs.done === 0) return [];
      if (theirs.done / theirs.runs > ours.done / ours.runs)
        return against(errand, server, [
          `does it ${theirs.done} of ${theirs.runs} times, tabrelay ${ours.done} of ${ours.runs}`,
        ]);
      if (!whole(theirs)) return [];
      return against(errand, server, [
        less(theirs.calls, ours.calls, 'calls'),
        less(theirs.tokens, ours.tokens, 'tokens'),
        theirs.ms < ours.ms && `${seconds(theirs.ms)} to ${seconds(ours.ms)}`,
      ]);
    }),
  );
  const about = (server: Server) => all.servers.find((one) => one.server === server);
  const [ourList, ourReading] = [about('tabrelay')?.toolsList ?? 0, about('tabrelay')?.instructions ?? 0];
  const inLists = others.flatMap((server) => {
    const { toolsList = ourList, instructions = ourReading } = about(server) ?? {};
    return [
      ...against('The list of tools', server, [less(toolsList, ourList, 'tokens')]),
      ...against('What an agent reads first', server, [less(instructions, ourReading, 'tokens')]),
    ];
  });
  const kinds = ['a first look', 'the whole page', 'a look where nothing changed', 'one after a change'];
  const tokensOf = (name: string, server: Server) =>
    all.looks.find((one) => one.page === name && one.server === server)?.tokens ?? [];
  const inLooks = distinct(all.looks.map((one) => one.page)).flatMap((name) =>
    others.flatMap((server) => {
      const [ours, theirs] = [tokensOf(name, 'tabrelay'), tokensOf(name, server)];
      return against(
        `A look at ${name}`,
        server,
        theirs.map((count, i) => less(count, ours[i] ?? 0, `tokens for ${kinds[i]}`)),
      );
    }),
  );
  return [...inErrands, ...inLists, ...inLooks];
}

/** The page with what is between its marks made of the measurements; the prose around them stays. */
export function rendered(text: string, all: Comparison): string {
  const lost = losses(all);
  const parts = {
    losses: lost.length === 0 ? 'In nothing that was measured.' : lost.join('\n'),
    measured: measured(all),
    errands: errandTable(all),
    ways: wayTable(all),
    loops: loopTable(all),
    lists: listTable(all),
    looks: lookTable(all),
  };
  return Object.entries(parts).reduce((done, [name, made]) => {
    const [start, end] = [`<!-- ${name}: make compare -->`, `<!-- end of ${name} -->`];
    const from = done.indexOf(start);
    const to = done.indexOf(end);
    if (from < 0 || to < from) throw new Error(`the page has no ${start} before ${end}`);
    return `${done.slice(0, from + start.length)}\n\n${made}\n\n${done.slice(to)}`;
  }, text);
}
