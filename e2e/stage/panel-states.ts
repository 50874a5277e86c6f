// Every state the panel is drawn in.

import type { Page } from '@playwright/test';
import type { Question } from '../../extension/src/panel/answers.generated.ts';
import type { Script } from './drawn-panel.ts';
import * as data from './panel-data.ts';
import * as ofPlugins from './panel-plugin-data.ts';

export interface State {
  name: string;
  /** The page of the panel, as in its address. */
  hash: string;
  script: Script;
  /** A text that shows that it is drawn. */
  shows: string | RegExp;
  /** What a person does first. */
  first?: (page: Page) => Promise<void>;
}

const ok = (body: unknown) => ({ body });
const no = (status: number, message: string, hint: string) => ({
  status,
  body: { error: { code: 'X', message, hint } },
});

const quiet: Script['answers'] = {
  approvals: ok(data.waiting()),
  running: ok({ calls: [] }),
  tabs: ok({ tabs: [] }),
  paused: ok({ paused: false }),
  reviews: ok({ reviews: [], required: true }),
  doctor: ok({ sound: true, findings: [] }),
  plugins: ok({ plugins: [] }),
  permissions: ok({ ...data.permissions, rules: [], grants: [] }),
  clients: ok({ clients: [] }),
  addition: ok({ addition: null }),
  offers: ok({ offers: [] }),
  profiles: ok(data.profiles),
  agents: ok({ ...data.agents, agents: [], spent: {} }),
  'agents/sessions': ok({ sessions: [] }),
  audit: ok({ entries: [] }),
  scripts: ok({ scripts: [] }),
};
/** Questions, and the calls that wait for their answers. */
const asking = (...questions: readonly Question[]): Script['answers'] => ({
  ...quiet,
  approvals: ok(data.waiting(...questions)),
  running: ok(data.askingCalls(...questions)),
});

const busy: Script['answers'] = {
  ...quiet,
  running: ok(data.running),
  tabs: ok(data.tabs),
  plugins: ok(data.plugins),
  reviews: ok(data.reviews),
  permissions: ok(data.permissions),
  clients: ok(data.clients),
  audit: ok(data.audit),
  scripts: ok({ scripts: data.scripts.map(({ script: _, ...one }) => one) }),
  'scripts/orders-of-the-month': ok(data.scripts[0]),
};

/** A plugin that can be set. */
const settable: Script['answers'] = { ...busy, 'plugins/shop/settings': ok(ofPlugins.settings) };

/** The demo tool answers. */
const calling: Script['answers'] = {
  ...quiet,
  'installed-clients': ok(data.installed()),
  status: ok({ demo: 'http://127.0.0.1:7718/' }),
  'POST tabs': ok({
    tabId: 9,
    windowId: 1,
    url: 'http://127.0.0.1:7718/',
    title: 'Demo',
    status: 'complete',
  }),
  'POST tools/demo__hello/call': ok({
    output: { greeting: 'Hello, there! This answer comes from a page in your own browser.' },
    meta: { correlationId: 'c1', attempts: 1, durationMs: 12 },
  }),
};

/** Agents work in it. */
const delegated: Script['answers'] = {
  ...busy,
  agents: ok(data.agents),
  'agents/sessions': ok(data.agentSessions),
  'POST agents/sessions/s1/stop': ok({ stopped: 's1' }),
  running: ok(data.errands),
};

const state = (name: string, hash: string, shows: State['shows'], more: Partial<Script> = {}): State => ({
  name,
  hash,
  shows,
  script: { state: data.connected, answers: quiet, ...more },
});

/** The answers of one page as they are while they are on their way, and when they fail. */
const troubled = (hash: string, topic: string, loading: string): State[] => {
  const { [topic]: _, ...without } = quiet;
  return [
    state(`${hash}-loading`, hash, `Loading ${loading} …`, { answers: without }),
    state(`${hash}-failed`, hash, 'Try again', {
      answers: {
        ...quiet,
        [topic]: no(500, 'The database cannot be read', '“tabrelay doctor” finds the cause.'),
      },
    }),
  ];
};

const remembered = '"Account": "Current account", "Remember this payee" (checked)';

/** A question for every kind of act, in the words of relay/road/deed. */
export const acts = {
  act: {
    ...data.acting('Click the button that shows "Delete my account" (its label says "Cancel")'),
    effects: ['Label says otherwise', 'May delete something'],
  },
  acts: {
    ...data.acting(
      'Fill in "To": "Ada Lovelace"',
      'Fill in "Amount": 500',
      'Choose "Express" in drop-down list "Delivery"',
      'Check checkbox "Remember this payee"',
      'Click button "Pay now", which sends its form to acme-bank.example/pay, and say yes to what the page ' +
        'asks then. The form also holds "Account": "Current account"',
    ),
    effects: ['Answers what the page asks', 'May cost money'],
  },
  fill: {
    ...data.acting(
      'Fill in "To": "Ada Lovelace"',
      'Fill in "Amount": 500',
      'Fill in "Password": ••••, then press Enter, which sends its form to another site, ' +
        `payments.example/collect. The form also holds ${remembered}`,
    ),
    elsewhere: 'Sends to another site: payments.example, with a password',
    effects: ['Sends to another site', 'Uses a password'],
  },
  press: data.acting(
    'Press Enter in text field "To", which sends its form to acme-bank.example/pay. The form holds ' +
      `"To": "Ada Lovelace", "Amount": 500, ${remembered}`,
  ),
  drag: data.acting('Drag list item "Pay the rent" after list item "Pay the taxes"'),
  upload: {
    ...data.acting('Upload passport.pdf, "my letter.txt" to "Attachment"'),
    effects: ['Hands over files'],
  },
  frame: {
    ...data.actingIn(
      'in pay.example, a frame of acme-bank.example',
      'Click button "Pay now", which sends its form to another site, collect.example/v2. ' +
        'The form holds "Card number": ••••',
    ),
    elsewhere: 'Sends to another site: collect.example, with payment details',
    effects: ['Sends to another site', 'May cost money', 'Uses payment details'],
  },
};

const open = (name: string) => (page: Page) => page.getByText(name).first().click();

const openScript = async (page: Page) => {
  await page.getByRole('listitem').filter({ hasText: 'orders-of-the-month' }).locator('summary').click();
  await page.getByText('found.length').waitFor();
};

export const states: readonly State[] = [
  state('question', 'now', 'One question for you', {
    answers: asking(data.reading),
  }),
  state('changes', 'now', 'Allow “tabrelay permit set default auto”?', {
    answers: { ...quiet, approvals: ok(data.changes) },
  }),
  state('keep-script', 'now', 'Keep a script as orders-of-the-month', {
    answers: { ...quiet, approvals: ok(data.keeping) },
  }),
  state('questions', 'now', '2 questions for you', {
    answers: asking(data.deleting, data.writing),
  }),
  state('question-change', 'now', 'One question for you', {
    answers: asking(data.changing),
  }),
  ...Object.entries(acts).map(([name, question]) =>
    state(`question-${name}`, 'now', question.deeds?.at(-1) ?? '', {
      answers: asking(question),
    }),
  ),
  state('question-look', 'now', /read pages on acme-bank\.example/, {
    answers: asking(data.looking),
  }),
  state('lost', 'now', 'Use these rules', { answers: { ...quiet, approvals: ok(data.lost) } }),
  state('lost-aside', 'rules', 'Not decided yet', {
    answers: {
      ...busy,
      approvals: ok({ ...data.lost, changes: data.lost.changes.map((one) => ({ ...one, aside: true })) }),
    },
  }),
  state('updated', 'now', 'I have read it', { answers: { ...quiet, approvals: ok(data.updated) } }),
  state('carried', 'now', 'I have read it', { answers: { ...quiet, approvals: ok(data.carried) } }),
  state('question-missed', 'now', 'Allow next time', {
    answers: {
      ...quiet,
      approvals: ok({
        ...data.waiting(),
        missed: [data.missed, { ...data.missed, id: 'q7', allowedNext: true }],
      }),
    },
  }),
  {
    ...state('question-details', 'now', /Always allow/, {
      answers: asking(data.reading),
    }),
    first: async (page) => {
      await page.getByRole('button', { name: 'Details' }).click();
      await page.getByRole('button', { name: 'More answers' }).click();
    },
  },
  {
    ...state('question-opened', 'now', 'Show more', {
      answers: {
        ...asking(data.deleting),
        'approvals/q3/arguments': ok(data.parts[0]),
      },
    }),
    first: async (page) => {
      await page.getByRole('button', { name: 'Details' }).click();
      await page.getByRole('button', { name: 'Show all' }).click();
    },
  },
  {
    ...state('question-ended', 'now', /The question is closed/, {
      answers: {
        ...asking(data.reading),
        'POST approvals/q1': no(410, 'The question is closed: nobody answered within 50 s', ''),
      },
    }),
    first: (page) => page.getByRole('button', { name: 'Allow for this session' }).click(),
  },
  {
    ...state('now', 'now', 'Page 17 of 60', { answers: { ...busy, audit: ok(data.recent) } }),
    first: open('Too many requests'),
  },
  state('now-empty', 'now', 'No agent is doing anything.'),
  ...troubled('now', 'running', 'calls'),
  state('settings', 'settings', 'Alt+Shift+O', { given: ['notifications', 'offscreen'] }),
  {
    ...state('settings-pairing', 'settings', /4 min 40 s/, {
      answers: { ...quiet, 'POST pairing': ok(data.pairing) },
    }),
    first: async (page) => {
      await page.getByRole('button', { name: 'Make a pairing string' }).click();
      await page.getByRole('button', { name: 'Forget Chrome 4f2a' }).click();
    },
  },
  state('paused', 'now', 'Resume', { answers: { ...quiet, paused: ok({ paused: true }) } }),
  state('connecting', 'now', 'Connecting', { state: data.link('connecting', '') }),
  state('not-connected', 'plugins', 'tabrelay up', {
    state: data.link('waiting', 'The relay is not reachable (close code 1006)'),
  }),
  state('not-paired', 'now', 'tabrelay up', {
    state: data.link('unpaired', 'The extension folder has no pairing.json from a relay on this machine'),
  }),
  state('program-found', 'now', 'Start tabrelay', {
    state: {
      ...data.link('waiting', 'The relay is not reachable (close code 1006)'),
      program: { phase: 'found', message: '' },
    },
  }),
  state('program-not-started', 'now', /did not start\. The port 7717 is taken/, {
    state: {
      ...data.link('waiting', 'The relay is not reachable (close code 1006)'),
      program: { phase: 'found', message: 'The port 7717 is taken: set listen to another one' },
    },
  }),
  state('program-absent', 'now', 'npx tabrelay up', {
    state: { ...data.link('unpaired', 'No pairing'), program: { phase: 'absent', message: '' } },
  }),
  state('program-failed', 'now', /does not know this extension/, {
    state: {
      ...data.link('unpaired', 'No pairing'),
      program: {
        phase: 'failed',
        message: 'tabrelay’s program on this computer does not know this extension',
      },
    },
  }),
  state('setup-absent', 'setup', 'npx tabrelay up', {
    state: { ...data.link('unpaired', 'No pairing'), program: { phase: 'absent', message: '' } },
  }),
  state('setup-found', 'setup', 'Start tabrelay', {
    state: { ...data.link('waiting', 'Not reachable'), program: { phase: 'found', message: '' } },
  }),
  state('setup-refused', 'setup', 'tabrelay doctor', {
    state: data.link('stopped', 'The relay does not accept the pairing secret'),
  }),
  state('setup-connected', 'setup', 'Make the first call', { answers: calling }),
  {
    ...state('setup-called', 'setup', 'Hello, there', { answers: calling }),
    first: (page) => page.getByRole('button', { name: 'Make the first call' }).click(),
  },
  ...Object.entries({
    found: { shows: /the file as it is now is kept/, of: data.installed('found') },
    connected: { shows: 'So that Cursor knows of it', of: data.installed('connected') },
    broken: { shows: /is not changed: it is not JSON/, of: data.installed('broken') },
  }).map(([name, { shows, of }]) => ({
    ...state(`setup-client-${name}`, 'setup', shows, {
      answers: { ...calling, 'installed-clients': ok(of) },
    }),
    first: (page: Page) => page.getByRole('button', { name: 'Make the first call' }).click(),
  })),
  {
    ...state('setup-client-failed', 'setup', /is now .*, and not/, {
      answers: {
        ...calling,
        'installed-clients': ok(data.installed('found')),
        'POST installed-clients/cursor': no(
          409,
          'The file of Cursor is now /home/ann/dotfiles/mcp.json, and not /home/ann/.cursor/mcp.json; ' +
            'nothing was changed',
          'Read it again, and then connect it.',
        ),
      },
    }),
    first: async (page) => {
      await page.getByRole('button', { name: 'Make the first call' }).click();
      await page.getByRole('button', { name: 'Connect Cursor' }).click();
    },
  },
  state('unpaired', 'settings', 'Pair again', {
    state: {
      ...data.link('unpaired', 'No pairing'),
      paired: { since: 0, ended: true, byItself: true },
    },
  }),
  {
    ...state('settings-unpair', 'settings', /Unpair this browser\?/),
    first: (page) => page.getByRole('button', { name: 'Unpair this browser' }).click(),
  },
  state('refused', 'now', 'tabrelay doctor', {
    state: data.link('stopped', 'The relay does not accept the pairing secret'),
  }),
  {
    ...state('attention', 'now', '2 things need attention', {
      answers: {
        ...quiet,
        doctor: ok({
          sound: false,
          findings: [
            { id: 'relay', severity: 'ok', what: 'The relay runs.' },
            {
              id: 'config-refused',
              severity: 'problem',
              what: 'The running relay refused the configuration it read last.',
              why: 'permisions is not a setting: did you mean permissions?',
              next: 'correct config.json; it is read again by itself',
            },
            {
              id: 'plugin-broken',
              severity: 'problem',
              what: 'A plugin, or one of its tools, was left out or needs something.',
              why: 'tickets/index.ts:12: cannot find “./api.ts”',
              next: 'correct what is named; tabrelay plugin check looks at the folder of a plugin',
            },
          ],
        }),
      },
    }),
    first: open('2 things need attention'),
  },
  {
    ...state('plugins', 'plugins', 'Example Shop', { answers: busy }),
    first: open('3 tools'),
  },
  state('plugin-settings', 'plugins/shop/settings', 'Orders at once', { answers: settable }),
  {
    ...state('plugin-settings-wrong', 'plugins/shop/settings', '2 settings cannot be used', {
      answers: {
        ...settable,
        'PUT plugins/shop/settings': { status: 422, body: ofPlugins.unusable },
      },
    }),
    first: (page) => page.getByRole('button', { name: 'Save' }).click(),
  },
  {
    ...state('plugin-settings-wider', 'plugins/shop/settings', /on more pages/, {
      answers: { ...settable, 'PUT plugins/shop/settings': { status: 428, body: ofPlugins.wider } },
    }),
    first: (page) => page.getByRole('button', { name: 'Save' }).click(),
  },
  state('plugin-settings-hostile', 'plugins/hostile/settings', /Your Google/, {
    answers: { ...settable, 'plugins/hostile/settings': ok(ofPlugins.hostileSettings) },
  }),
  state('plugin-settings-failed', 'plugins/shop/settings', 'Try again', {
    answers: { ...quiet, 'plugins/shop/settings': no(404, 'There is no plugin shop that can run', '') },
  }),
  {
    ...state('plugin-add', 'plugins', /the name of a package on npm/, { answers: busy }),
    first: open('Add a plugin'),
  },
  state('plugin-offers', 'plugins', 'For pages that are open', {
    answers: { ...busy, offers: ok(ofPlugins.offers) },
  }),
  state('plugin-add-going', 'plugins', 'Building /home/ada/tea-shop …', {
    answers: { ...busy, addition: ok(ofPlugins.going) },
  }),
  state('plugin-add-failed', 'plugins', /src\/index.ts:12:9/, {
    answers: { ...busy, addition: ok(ofPlugins.broken) },
  }),
  state('plugin-add-done', 'plugins', 'Review tea-shop now', {
    answers: { ...busy, addition: ok(ofPlugins.done) },
  }),
  {
    ...state('plugin-remove', 'plugins', /Your folder .* stays/, { answers: busy }),
    first: async (page) => {
      await page.getByText('3 tools').first().click();
      await page.getByRole('button', { name: 'Remove Example Shop' }).click();
    },
  },
  {
    ...state('plugins-hostile', 'plugins', 'broken', {
      answers: { ...quiet, plugins: ok(ofPlugins.hostile) },
    }),
    first: async (page) => {
      await page.getByText('1 tool').first().click();
      await page.getByRole('button', { name: /^Remove/ }).click();
    },
  },
  state('plugins-empty', 'plugins', 'There are no plugins.'),
  ...troubled('plugins', 'plugins', 'plugins'),
  state('review', 'plugins/crm', 'Delete a contact', {
    answers: { ...quiet, 'reviews/crm': ok(data.review) },
  }),
  {
    ...state('review-changed', 'plugins/crm', 'Read what it is now', {
      answers: {
        ...quiet,
        'reviews/crm': ok(data.review),
        'POST reviews/crm': no(409, 'The plugin changed while you were reading', ''),
      },
    }),
    first: (page) => page.getByRole('button', { name: 'Accept' }).click(),
  },
  { ...state('rules', 'rules', 'Allowed for a limited time', { answers: busy }), first: open('New rule') },
  { ...state('rules-scripts', 'rules', 'Scripts that you keep', { answers: busy }), first: openScript },
  state('rules-empty', 'rules', 'There are no rules of your own yet.'),
  ...troubled('rules', 'permissions', 'rules'),
  {
    ...state('clients', 'clients', 'Revoke the token of codex?', { answers: busy }),
    first: (page) => page.getByRole('button', { name: 'Revoke codex' }).click(),
  },
  {
    ...state('clients-scope', 'clients', 'All, also those', { answers: busy }),
    first: (page) => page.getByLabel('Change what codex may use').click(),
  },
  state('clients-empty', 'clients', 'None yet.'),
  ...troubled('clients', 'clients', 'clients'),
  state('agents', 'agents', 'No client has delegated anything', {
    answers: { ...quiet, agents: ok(data.agents) },
  }),
  state('agents-busy', 'agents', 'turn 3 · 7 of 50 calls', { answers: delegated }),
  {
    ...state('agents-stop-failed', 'agents', 'Session not found', {
      answers: {
        ...delegated,
        agents: ok(data.full),
        'POST agents/sessions/s2/stop': no(404, 'Session not found: s2', ''),
      },
    }),
    first: (page) => page.getByRole('button', { name: 'Stop claude for codex' }).click(),
  },
  state('agents-unavailable', 'agents', /has no key/, { answers: { ...quiet, agents: ok(data.lacking) } }),
  state('agents-empty', 'agents', /docs\/delegation.md says how/),
  ...troubled('agents', 'agents', 'agents'),
  state('now-delegated', 'now', 'reader for claude-code', {
    answers: { ...delegated, audit: ok(data.recent) },
  }),
  state('question-delegated', 'now', /the agent reader for/, {
    answers: asking(data.delegating),
  }),
  state('question-remote', 'now', /Not from this computer: it comes from another machine/, {
    answers: asking(data.remote),
  }),
  { ...state('log', 'log', 'Too many requests', { answers: busy }), first: open('shop__send_message') },
  state('log-empty', 'log', 'Nothing has happened yet.'),
  ...troubled('log', 'audit', 'the log'),
];
