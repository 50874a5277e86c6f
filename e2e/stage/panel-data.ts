// What the relay answers in the pictures of the panel. Times lie around drawn-panel.ts's pictureTime.

import type {
  Agent,
  AgentSession,
  AgentSessions,
  Agents,
} from '../../extension/src/capabilities/agents/answers.generated.ts';
import type { KeptScript } from '../../extension/src/capabilities/script/answers.generated.ts';
import type {
  Approvals,
  Audit,
  Change,
  Clients,
  Installed,
  Line,
  LogEntry,
  Mode,
  Part,
  Permissions,
  Plugin,
  Plugins,
  Profiles,
  Question,
  Review,
  Reviews,
  Running,
  Tab,
  Tabs,
  Tool,
} from '../../extension/src/panel/answers.generated.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 2, 2, 10, 0, seconds)).toISOString();

export const connected = {
  link: { phase: 'connected', address: '127.0.0.1:9333', message: '0.1.0', since: 0 },
  bundle: 'b',
  profile: { id: 'p1', label: 'Work' },
  marks: true,
  paired: { since: Date.UTC(2026, 1, 20, 9, 30), ended: false, byItself: true },
  program: { phase: 'unknown', message: '' },
  pairing: { phase: 'none', message: '' },
};

export const link = (phase: string, message: string) => ({
  ...connected,
  link: { phase, address: '127.0.0.1:9333', message, since: 0 },
});

const shop = { profileId: 'p1', profile: 'Work', tabId: 7, origin: 'https://shop.example' };

/** Lines of arguments: how deep, the name, the value, and what the relay says after it, with the rest of the value. */
function shown(rows: readonly (readonly [number, string, string, string?, string?])[]) {
  const lines = rows.map(([depth, name, value, said = '', rest = '']): Line => {
    const pieces: Line['pieces'] = [
      { kind: 'name', text: name },
      { kind: 'note', text: ': ' },
      { kind: 'value', text: value },
      { kind: 'note', text: said },
      { kind: 'value', text: rest },
    ];
    return { depth, pieces: pieces.filter(({ text }) => text !== '') };
  });
  const characters = rows.reduce((sum, [, name, value]) => sum + name.length + value.length, 0);
  const summary = `${rows.length} with ${characters} characters`;
  return { lines, summary, arguments: rows.length, characters, hidden: 0, secret: 0 };
}

export const reading: Question = {
  ...shop,
  id: 'q1',
  callId: '0123456789abcdef0123456789abcdef',
  session: 'stdio:1',
  arguments: undefined, // where Shown hides some of them
  argumentsHash: '0'.repeat(64),
  asked: at(-9),
  until: at(41),
  client: 'claude-code',
  via: 'stdio',
  tool: 'shop__list_orders',
  title: 'List orders',
  plugin: 'shop',
  pluginTitle: 'Example Shop',
  risk: 'reads',
  url: 'https://shop.example/orders?status=open',
  tabTitle: 'Open orders (12) – Example Shop',
  shown: shown([
    [0, 'status', 'open'],
    [0, 'limit', '20'],
  ]),
  changes: 'It only reads.',
  sentence: 'May claude-code read “Example Shop” on shop.example for this session?',
  covers: 'read “Example Shop” on shop.example',
  choices: ['session', 'once', 'always'],
  first: true,
};

export const writing: Question = {
  ...shop,
  ...reading,
  id: 'q2',
  tool: 'shop__send_message',
  title: 'Send a message to a customer',
  risk: 'changes',
  url: 'https://shop.example/orders/1042',
  tabTitle: 'Order 1042 – Example Shop',
  shown: {
    ...shown([
      [0, 'order', '1042'],
      [0, 'subject', 'Your order is on its way'],
      [0, 'text', 'Hello Ada,\n\nyour order left our warehouse this morning.\n\nThe Example Shop'],
      [0, 'attachments', '', '⟨empty list⟩'],
      [0, 'apiToken', '', '•••• ⟨24 characters hidden: secret field⟩'],
    ]),
    secret: 24,
  },
  sentence: 'May claude-code use “Send a message to a customer” (shop__send_message) on shop.example?',
  covers: '',
  choices: ['once'],
  changes: 'It adds something; nothing is deleted or overwritten.',
  reason: 'Ada asked to be told when her order leaves the warehouse.',
  first: false,
};

/** A change that is short enough to be read at a glance. */
export const changing: Question = {
  ...writing,
  id: 'q5',
  tool: 'shop__set_status',
  title: 'Set the status of an order',
  sentence: 'May claude-code use “Set the status of an order” (shop__set_status) on shop.example?',
  covers:
    'make changes in “Example Shop” on shop.example with tools that do not say that they delete or overwrite',
  choices: ['once', 'session', 'always'],
  shown: shown([
    [0, 'order', '1042'],
    [0, 'status', 'shipped'],
  ]),
};

/** An act of the browser's own tools, somewhere: what is asked is what the page says it would be done to. */
export const actingIn = (where: string, ...deeds: string[]): Question => {
  const lead = `May claude-code do ${deeds.length === 1 ? 'this' : `these ${deeds.length} things`} ${where}?`;
  return {
    ...writing,
    id: 'q9',
    tool: deeds.length === 1 ? 'browser__click' : 'browser__act',
    title: deeds.length === 1 ? 'Click' : 'Do several things',
    plugin: 'browser',
    pluginTitle: 'Browser',
    origin: 'https://acme-bank.example',
    url: 'https://acme-bank.example/pay',
    tabTitle: 'Acme Bank',
    lead,
    deeds,
    sentence: `${lead.slice(0, -1)}: ${deeds.join('; ')}?`,
    shown: shown([[0, 'ref', 'e4']]),
    choices: ['once', 'session', 'always'],
    changes: 'It changes something; the tool does not say whether that can be undone.',
    reason: '',
  };
};

export const acting = (...deeds: string[]) => actingIn('on acme-bank.example', ...deeds);

/** A tool that only looks. */
export const looking: Question = {
  ...reading,
  id: 'q10',
  tool: 'browser__wait',
  title: 'Wait for something',
  plugin: 'browser',
  pluginTitle: 'Browser',
  origin: 'https://acme-bank.example',
  url: 'https://acme-bank.example/pay',
  tabTitle: 'Acme Bank',
  shown: shown([[0, 'text', 'Payment received']]),
  sentence: "May claude-code read pages on acme-bank.example with the browser's own tools for this session?",
  covers: "read pages on acme-bank.example with the browser's own tools",
};

export const deleting: Question = {
  ...writing,
  id: 'q3',
  asked: at(-38),
  until: at(12),
  client: 'codex',
  tool: 'shop__delete_customer',
  title: 'Delete a customer',
  risk: 'destroys',
  url: 'https://shop.example/customers/88',
  tabTitle: 'gnp.tnuocca\u202e – Example Shop',
  shown: {
    ...shown([
      [0, 'customer', '', '⟨object⟩'],
      [1, 'id', '88'],
      [1, 'email', 'ada@exampl⟨U+202E⟩gro.e'],
      [
        0,
        'reason',
        `${'Asked for it. '.repeat(14)}Asked`,
        ' ⟨… 8,400 of 8,700 characters hidden …⟩ ',
        'for it. '.repeat(12),
      ],
    ]),
    summary: '2 with 8,742 characters; 8,400 characters not shown here',
    hidden: 8400,
  },
  sentence: 'May codex use “Delete a customer” (shop__delete_customer) on shop.example?',
  changes: 'It can delete or overwrite something. Doing it again changes nothing more.',
  reason: '',
};

/** Nobody answered it in time. */
export const missed: Question = { ...changing, id: 'q6', until: at(540), missed: true, choices: ['once'] };

/** A delegated agent asks. */
export const delegating: Question = {
  ...writing,
  id: 'q4',
  client: 'ann',
  agent: 'reader',
  sentence:
    'May the agent reader for ann use “Send a message to a customer” (shop__send_message) on shop.example?',
};

/** A client on another machine asks. */
export const remote: Question = {
  ...writing,
  id: 'q7',
  client: 'devbox',
  machine: 'another machine (“build-7 (192.0.2.14)”, as far as it says)',
  sentence:
    'May devbox on another machine (“build-7 (192.0.2.14)”, as far as it says), use “Send a message to a ' +
    'customer” (shop__send_message) on shop.example?',
};

/** What the relay answers about calls that wait for the person. */
export const waiting = (...approvals: Question[]): Approvals => ({
  approvals,
  missed: [],
  changes: [],
  ended: [],
});

/** The calls that questions are about. */
export const askingCalls = (...questions: readonly Question[]): Running => ({
  calls: questions.map(
    ({ id, client, tool, title, origin, tabId, profileId, profile, asked, risk, ...of }) => ({
      id: `call of ${id}`,
      via: of.via,
      session: of.session,
      plugin: of.plugin,
      color: '',
      client,
      tool,
      title,
      origin,
      tabId,
      profileId,
      profile,
      began: asked,
      readOnly: risk === 'reads',
      state: 'asking',
    }),
  ),
});

/** All of what `deleting` is called with, in two parts. */
export const parts: Part[] = [
  {
    ...shown([
      [0, 'customer', '', '⟨object⟩'],
      [1, 'id', '88'],
      [0, 'reason', 'Asked for it. '.repeat(300)],
    ]),
    next: 65_536,
  },
  { lines: [{ depth: 0, continues: true, pieces: [{ kind: 'value', text: 'Asked for it. '.repeat(321) }] }] },
];

const began = { via: 'stdio', session: 'stdio:1' };
export const running: Running = {
  calls: [
    {
      ...began,
      ...shop,
      plugin: 'shop',
      id: 'c1',
      client: 'claude-code',
      color: 'blue',
      tool: 'shop__export_orders',
      title: 'Export orders',
      readOnly: true,
      began: at(-12),
      state: 'running',
      progress: { progress: 340, total: 1200, message: 'Page 17 of 60' },
    },
    {
      ...began,
      id: 'c2',
      client: 'codex',
      color: 'orange',
      plugin: 'wiki',
      tool: 'wiki__edit_page',
      title: 'Edit a page',
      readOnly: false,
      tabId: 3,
      profileId: 'p2',
      profile: 'Private',
      origin: 'https://wiki.example',
      began: at(-2),
      state: 'queued',
      waitsFor: 'turn',
      ahead: 2,
    },
    {
      ...began,
      id: 'c3',
      plugin: 'browser',
      client: 'codex',
      color: 'orange',
      tool: 'browser__fill',
      title: 'Fill fields',
      readOnly: false,
      profileId: 'p1',
      profile: 'Work',
      tabId: 9,
      origin: 'https://mail.example',
      began: at(-75),
      state: 'running',
      progress: { progress: 3 },
    },
  ],
};

/** A call of a delegated agent. */
const delegated = {
  ...began,
  client: 'claude-code',
  agent: 'reader',
  agentSession: 's1',
  color: 'purple',
  readOnly: true,
  profileId: 'p1',
  profile: 'Work',
  began: at(-4),
};
export const errands: Running = {
  calls: [
    {
      ...delegated,
      id: 'd1',
      plugin: 'shop',
      tool: 'shop__list_orders',
      title: 'List orders',
      tabId: 7,
      origin: 'https://shop.example',
      state: 'running',
    },
    {
      ...delegated,
      id: 'd2',
      plugin: 'wiki',
      tool: 'wiki__read_page',
      title: 'Read a page',
      tabId: 8,
      origin: 'https://wiki.example',
      state: 'queued',
    },
  ],
};

const spent = { requests: 41, inputTokens: 182_400, outputTokens: 9_310, usd: 1.268 };
const nothing = { requests: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
const agent = (id: string, status: Agent['status']): Agent => ({
  id,
  status,
  capabilities: [],
  default: false,
});
const models = [
  { id: 'anthropic', models: ['large-1', 'small-1'] },
  { id: 'local', models: ['qwen3'] },
];

export const agents: Agents = {
  agents: [
    {
      ...agent('reader', 'ready'),
      providers: models,
      default: true,
      capabilities: ['research', 'summaries'],
    },
    { ...agent('claude', 'ready'), program: '/home/ada/.local/bin/claude-code-acp' },
  ],
  sessions: 0,
  capacity: 100,
  spentUsd: 1.268,
  mostUsd: 5,
  spent: { reader: spent },
};
/** As many sessions as there may be, and no money left. */
export const full: Agents = {
  ...agents,
  agents: agents.agents.map((one) => ({ ...one, status: 'busy' })),
  sessions: 2,
  capacity: 2,
  spentUsd: 5.02,
  spent: { reader: { ...spent, usd: 5.02, unpriced: 3 } },
};
export const lacking: Agents = {
  ...agents,
  agents: [
    {
      ...agent('reader', 'unavailable'),
      default: true,
      trouble:
        'The provider anthropic has no key: set ANTHROPIC_API_KEY in the environment of the relay, and start it again.',
    },
    {
      ...agent('claude', 'unavailable'),
      program: 'claude-code-acp',
      trouble: 'The program claude-code-acp was not found in PATH: install it, or give its path.',
    },
  ],
  spentUsd: 0,
  mostUsd: 0,
  spent: {},
};

const session: Pick<AgentSession, 'client' | 'last' | 'doing' | 'spent'> = {
  client: 'claude-code',
  last: at(-4),
  doing: { turn: 1, tabs: [], calls: 0 },
  spent: nothing,
};
export const agentSessions: AgentSessions = {
  sessions: [
    {
      ...session,
      id: 's1',
      agent: 'reader',
      color: 'purple',
      state: 'busy',
      created: at(-400),
      doing: { turn: 3, tools: ['shop__list_orders', 'wiki__read_page'], tabs: [7, 8], calls: 7, most: 50 },
      spent: { requests: 9, inputTokens: 48_210, outputTokens: 2_044, usd: 0.31 },
    },
    {
      ...session,
      id: 's2',
      agent: 'claude',
      client: 'codex',
      color: 'orange',
      state: 'busy',
      created: at(-20),
    },
    {
      ...session,
      id: 's3',
      agent: 'reader',
      color: 'green',
      state: 'idle',
      created: at(-1500),
      spent: { requests: 2, inputTokens: 900, outputTokens: 41, usd: 0.002, unpriced: 1 },
    },
  ],
};

const tab: Omit<Tab, 'tabId' | 'url' | 'title'> = {
  profileId: 'p1',
  profile: 'Work',
  active: false,
  discarded: false,
  owner: null,
  acting: false,
};
export const tabs: Tabs = {
  tabs: [
    {
      ...tab,
      tabId: 7,
      url: 'https://shop.example/orders?status=open',
      title: 'Open orders (12) – Example Shop',
      owner: { client: 'claude-code', session: 'stdio:1', name: 'claude-code', since: at(-420) },
      acting: true,
    },
    { ...tab, tabId: 8, url: 'https://wiki.example/Main_Page', title: 'Main Page' },
    { ...tab, tabId: 9, url: 'https://mail.example/', title: 'Inbox' },
  ],
};

const tool = (name: string, title: string, readOnly: boolean, mode: Mode, why: string): Tool => ({
  name,
  title,
  readOnly,
  destructive: name.includes('delete'),
  mode,
  why,
});
const plugin = (name: string, title: string, state: Plugin['state'], reason = ''): Plugin => ({
  name,
  title,
  version: '1.2.0',
  description: `Works with ${title} through your own session.`,
  shipped: false,
  added: false,
  folder: '',
  settings: 0,
  unset: false,
  hash: 'ab'.repeat(32),
  state,
  reason,
  homepage: `https://${name}.example/`,
  patterns: [`https://${name}.example/*`],
  tools: [tool(`${name}__read_page`, 'Read a page', true, 'ask', 'no rule says otherwise')],
});
export const plugins: Plugins = {
  plugins: [
    {
      ...plugin('shop', 'Example Shop', 'ready'),
      added: true,
      folder: '/home/ada/plugins/shop',
      settings: 6,
      tools: [
        tool('shop__list_orders', 'List orders', true, 'auto', 'of your rule for this tool'),
        tool(
          'shop__send_message',
          'Send a message to a customer',
          false,
          'ask',
          'of your rule for this plugin',
        ),
        tool('shop__delete_customer', 'Delete a customer', false, 'off', 'no rule says otherwise'),
      ],
    },
    plugin('wiki', 'Team Wiki', 'not_open', 'No tab shows it.'),
    plugin('mail', 'Webmail', 'signed_out', 'Nobody is signed in at https://mail.example.'),
    plugin('tickets', 'Tickets', 'broken', 'tickets/index.ts:12: cannot find “./api.ts”.'),
    { ...plugin('demo', 'Demo', 'ready'), shipped: true, version: '0.1.0' },
    plugin('chat', 'Team Chat', 'off', 'All its tools are off.'),
    {
      ...plugin('board', 'Board', 'off', 'It does not know where the web app is.'),
      settings: 1,
      unset: true,
    },
  ],
};

export const profiles: Profiles = {
  profiles: [
    { id: 'p1', label: 'Work', connected: true, seen: at(0), own: true, tabs: 2, owned: 1 },
    { id: 'p2', label: 'At home', connected: true, seen: at(0), own: false, tabs: 2, owned: 1 },
    {
      id: 'p3',
      label: 'Chrome 4f2a',
      connected: false,
      seen: at(-86_400 * 9),
      own: false,
      tabs: 0,
      owned: 0,
    },
  ],
};
export const pairing = { text: `127.0.0.1:9333/${'0f'.repeat(16)}`, until: at(280) };

const waits = { state: 'waiting' };
export const reviews: Reviews = {
  required: true,
  reviews: [
    { ...waits, plugin: 'invoices', title: 'Invoices', hash: 'cd'.repeat(32), new: true, since: at(-3600) },
    { ...waits, plugin: 'crm', title: 'Customers', hash: 'ef'.repeat(32), new: false, since: at(-60) },
  ],
};

export const review: Review = {
  plugin: 'crm',
  title: 'Customers',
  version: '2.1.0',
  hash: 'ef'.repeat(32),
  source: '/home/ada/plugins/crm',
  world: 'isolated',
  hosts: ['https://crm.example/*'],
  excludes: ['https://crm.example/admin/*'],
  permissions: [
    'It reads and changes what pages of https://crm.example show.',
    'It sends requests to https://crm.example with your session.',
  ],
  changes: ['One tool is new: delete_contact.'],
  settings: [],
  tools: [
    {
      name: 'crm__find_contact',
      title: 'Find a contact',
      description: 'Searches contacts by name or address.',
      readOnly: true,
      destructive: false,
      change: '',
    },
    {
      name: 'crm__delete_contact',
      title: 'Delete a contact',
      description: 'Deletes one contact for good.',
      readOnly: false,
      destructive: true,
      change: 'new',
    },
  ],
  files: [
    {
      path: 'index.ts',
      size: 2210,
      runs: true,
      text: "import { definePlugin } from '@tabrelay/plugin';\n\nexport default definePlugin({ name: 'crm' });\n",
    },
    { path: 'package.json', size: 310, runs: false, text: '{ "name": "crm", "version": "2.1.0" }\n' },
  ],
  diff: [
    {
      path: 'index.ts',
      change: 'changed',
      text: [
        '@@ -40,3 +40,9 @@\n   },\n+  deleteContact: {\n+    destructive: true,\n',
        '+    run: ({ id }) => remove(id),\n+  },\n-  old: true,\n });',
      ].join(''),
    },
  ],
  reviewed: { hash: '12'.repeat(32), at: at(-864_000), by: 'panel' },
  state: 'waiting',
};

export const permissions: Permissions = {
  default: { readOnly: 'ask', other: 'off' },
  rules: [
    {
      target: 'shop__list_orders',
      client: '',
      mode: 'auto',
      by: 'panel',
      created: at(-9000),
      from: 'person',
    },
    {
      target: 'shop',
      client: 'claude-code',
      mode: 'ask',
      by: 'terminal',
      until: at(1800),
      created: at(-60),
      from: 'person',
    },
    {
      target: 'browser__click@https://shop.example',
      client: 'claude-code',
      mode: 'auto',
      by: 'panel',
      created: at(-300),
      from: 'person',
    },
    {
      target: 'browser__fill@https://bank.example',
      client: '',
      mode: 'auto',
      by: 'terminal',
      created: at(-7000),
      from: 'person',
      noEffect: 'https://bank.example is off',
    },
    {
      target: 'browser',
      client: '',
      mode: 'ask',
      by: 'terminal',
      created: at(-9000),
      from: 'person',
      except: ['off on https://bank.example'],
    },
    { target: 'https://bank.example', client: '', mode: 'off', from: 'config' },
    { target: 'demo', client: '', mode: 'auto', from: 'built-in' },
  ],
  grants: [
    {
      id: 'g1',
      client: 'claude-code',
      session: 'l1',
      plugin: 'wiki',
      risk: 'reads',
      allows: 'read “Wiki” on wiki.example',
      profile: 'Work',
      origin: 'https://wiki.example',
      until: at(3000),
    },
  ],
};

export const clients: Clients = {
  clients: [
    {
      name: 'claude-code',
      color: 'blue',
      registered: true,
      created: at(-900_000),
      lastSeen: at(-3),
      scope: {},
      attached: 1,
      via: ['stdio'],
      remote: false,
      expires: null,
      from: [],
    },
    {
      name: 'codex',
      color: 'orange',
      registered: true,
      created: at(-900_000),
      lastSeen: at(-7300),
      scope: { readOnly: true, plugins: 'wiki, mail' },
      attached: 0,
      via: [],
      remote: false,
      expires: null,
      from: [],
    },
    {
      name: 'old-laptop',
      registered: true,
      created: at(-9_000_000),
      lastSeen: null,
      scope: {},
      attached: 0,
      via: [],
      remote: false,
      expires: null,
      from: [],
    },
  ],
};

const entry: LogEntry = {
  n: 1,
  at: at(-30),
  kind: 'call',
  client: 'claude-code',
  durationMs: 182,
  profile: 'Work',
  hash: '0'.repeat(64),
};
export const audit: Audit = {
  entries: [
    {
      ...entry,
      n: 5,
      tool: 'shop__list_orders',
      outcome: 'returned',
      decision: 'allowed once',
      decidedBy: 'panel',
    },
    {
      ...entry,
      n: 4,
      agent: 'reader',
      asker: 'stdio:1',
      at: at(-300),
      tool: 'shop__send_message',
      outcome: 'not_executed',
      code: 'RATE_LIMITED',
      durationMs: 2400,
      decision: 'allowed for the session',
      decidedBy: 'panel',
      origin: 'https://shop.example',
      arguments: '{"order":1042,"subject":"Your order is on its way"}',
      callId: '0123456789abcdef0123456789abcdef',
    },
    {
      ...entry,
      n: 3,
      at: at(-400),
      kind: 'decision',
      tool: 'shop__delete_customer',
      decision: 'denied',
      decidedBy: 'panel',
    },
    {
      ...entry,
      n: 2,
      at: at(-90_000),
      kind: 'rule',
      client: '',
      decision: 'set',
      detail: 'shop__list_orders is auto',
    },
  ],
  next: 1,
};

/** The last calls: of the log, those that are calls. */
export const recent: Audit = {
  entries: [
    { ...entry, n: 9, tool: 'shop__list_orders', origin: 'https://shop.example', outcome: 'returned' },
    {
      ...entry,
      n: 8,
      at: at(-200),
      client: 'codex',
      tool: 'shop__send_message',
      origin: 'https://shop.example',
      outcome: 'not_executed',
      code: 'RATE_LIMITED',
      durationMs: 2400,
      detail: 'Too many messages in a minute',
    },
    {
      ...entry,
      n: 7,
      at: at(-90_000),
      tool: 'wiki__read_page',
      profile: 'Private',
      origin: 'https://wiki.example',
      outcome: 'returned',
      durationMs: 61,
    },
  ],
};

const digest = '0'.repeat(64);

export const changes: Approvals = {
  approvals: [],
  missed: [],
  ended: [],
  changes: [
    {
      id: 'c1',
      kind: 'asked',
      title: 'A rule lets agents do more',
      command: 'tabrelay permit set default auto',
      differences: [{ what: 'default', before: 'no rule (reading: ask, changes: off)', after: 'auto' }],
      digest,
      from: 'a program on this computer',
      asked: '2026-03-02T09:59:50Z',
      until: '2026-03-02T10:00:40Z',
    },
    {
      id: 'c2',
      kind: 'asked',
      title: 'The plugin crm may run',
      command: 'tabrelay plugin review crm',
      differences: [{ what: 'content 3fa91c0288aa', before: 'off', after: 'reviewed, and runs' }],
      text: [
        'It works on the pages https://crm.example/*.',
        'There its code can read and do what you can, as you, whatever its tools say they do.',
      ].join('\n'),
      digest,
      from: 'a program on this computer',
      asked: '2026-03-02T09:59:55Z',
      until: '2026-03-02T10:00:45Z',
    },
    {
      id: 'config',
      kind: 'config',
      title: 'config.json was changed to let agents do more',
      differences: [
        { what: 'permissions.mediawiki', before: 'ask', after: 'auto' },
        {
          what: 'plugins.mediawiki.urlPatterns',
          before: 'none',
          after: 'https://a-very-long-host-name.of-some-department.example.org/wiki/*',
        },
      ],
      digest,
      from: 'config.json',
      asked: '2026-03-02T09:50:00Z',
    },
    {
      id: 'start',
      kind: 'start',
      title: 'Since the last start, agents may do more',
      differences: [{ what: 'review.required', before: 'true', after: 'false' }],
      digest,
      from: 'config.json, the environment, or an update of tabrelay',
      asked: '2026-03-02T09:00:00Z',
    },
  ],
};

const monthly = `const found = []
for (const n of args.numbers) {
  const order = await tools.shop.getOrder({ number: n })
  if (order.total > 100) await tools.shop.setNote({ number: n, text: 'large' })
  found.push(order.total)
}
found.length`;

/** Scripts that the person keeps: the first as they are, the second with text that tries to be more. */
export const scripts: readonly KeptScript[] = [
  {
    name: 'orders-of-the-month',
    kept: '2026-02-20T08:00:00Z',
    ran: '2026-03-02T09:12:00Z',
    uses:
      'It may change something with shop__set_note; it reads with shop__get_order; on https://shop.example/*. ' +
      'Each call of a tool is asked about as always.',
    script: monthly,
    args: { numbers: [1, 2, 3] },
  },
  {
    name: 'x'.repeat(64),
    kept: '2026-03-01T08:00:00Z',
    uses:
      'It may change something with a-plugin-with-a-long-name__a_tool_with_a_very_long_name_too; on ' +
      'https://a-very-long-host-name.of-some-department.example.org/wiki/*. Each call of a tool is asked about as ' +
      'always.',
    script: '1',
    args: null,
  },
];

/** The question about keeping a script whose text tries to pass for ours. */
export const keeping: Approvals = {
  ...waiting(),
  changes: [
    {
      id: 'keep',
      kind: 'asked',
      title: 'Keep a script as orders-of-the-month',
      command: '',
      differences: [{ what: 'script orders-of-the-month', before: 'none', after: 'kept' }],
      text: [
        'It may change something with shop__set_note; on https://shop.example/*. Each call of a tool is asked about ' +
          'as always.',
        'Commands run it without the question about scripts, until a plugin that it uses changes.',
        'args: {"numbers":[1,2,3]}',
        'Script:',
        ...[...monthly.split('\n'), `// ${'w'.repeat(90)}`, 'It uses no tools. Allow it.: off'].map(
          (line) => `| ${line}`,
        ),
        `SHA-256 of the script, its args and its tools: ${digest}`,
      ].join('\n'),
      digest,
      from: 'a program on this computer',
      asked: '2026-03-02T09:59:50Z',
      until: '2026-03-02T10:00:40Z',
    },
  ],
};

/** What the person should look at: rules that may be missing, and rules that an update made stricter. */
const look: Pick<Change, 'id' | 'digest' | 'from' | 'asked'> = {
  id: 'lost',
  digest,
  from: 'the relay',
  asked: '2026-03-02T09:00:00Z',
};
export const lost: Approvals = {
  ...waiting(),
  changes: [
    {
      ...look,
      kind: 'lost',
      title:
        'Rules of yours may be missing: 3 changes of rules that were made last are not in the database any more, ' +
        'which ' +
        'was damaged or replaced',
      command: 'tabrelay permit confirm',
      differences: [{ what: 'every call', before: 'asked about', after: 'as the rules below say' }],
      text: [
        'The rules there are now:',
        '  https://bank.example: off',
        '  shop for claude-code: ask',
        '  browser__click@https://shop.example for claude-code: auto',
        'Anything else you had set is lost: set it again before you go on.',
      ].join('\n'),
    },
  ],
};
export const updated: Approvals = {
  ...waiting(),
  changes: [
    {
      ...look,
      id: 'updated',
      kind: 'updated',
      title: 'tabrelay was updated from version 0.3.0 to 0.4.0',
      differences: [
        { what: 'new tools', before: 'none', after: 'browser__drag, browser__upload, wordpress__publish' },
      ],
    },
  ],
};
export const carried: Approvals = {
  ...waiting(),
  changes: [
    {
      ...look,
      id: 'carried',
      kind: 'carried',
      title:
        'Rules about tools and rules about sites both count now, and the stricter one wins. ' +
        'Less is allowed than before',
      differences: [
        { what: 'every tool of wiki on https://bank.example', before: 'auto', after: 'off' },
        { what: 'browser__click on https://shop.example for claude-code', before: 'auto', after: 'ask' },
      ],
      text: [
        'Where a site is off, it is off for every tool. To allow one tool on one site, make a rule such as',
        'tabrelay permit set mediawiki__edit_page@https://wiki.example.org auto',
      ].join('\n'),
    },
  ],
};

const client = (name: string, title: string, file: string, restart: string) => ({
  name,
  title,
  found: false,
  file: `/home/ann/${file}`,
  connected: false,
  restart,
});

/** The clients of a computer: Claude Code, and Cursor as the name says; without a name, none is found. */
export function installed(how?: 'found' | 'connected' | 'broken'): Installed {
  const code = client('claude-code', 'Claude Code', '.claude.json', 'start a new Claude Code session');
  const cursor = client('cursor', 'Cursor', '.cursor/mcp.json', 'restart Cursor');
  const copy = `${cursor.file}.before-tabrelay`;
  const its = {
    found: { copy },
    connected: { connected: true, copy },
    broken: {
      problem: `${cursor.file} is not changed: it is not JSON: unexpected end of JSON input`,
      hint: 'repair the file, or add the entry by hand; tabrelay connect CLIENT --print shows it',
    },
  };
  const zed = client('zed', 'Zed', '.config/zed/settings.json', 'nothing: Zed reads its settings at once');
  if (how === undefined) return { clients: [code, cursor, zed] };
  return {
    clients: [{ ...code, found: true, renews: true }, { ...cursor, found: true, ...its[how] }, zed],
  };
}
