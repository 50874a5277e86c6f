// What the panel shows of delegated agents, and how one is stopped.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AgentsPage } from '../src/capabilities/agents/panel.tsx';
import { inPanel } from './in-panel.tsx';

const spent = { requests: 2, inputTokens: 1200, outputTokens: 30, usd: 0.004 };
const session = {
  id: 's1',
  agent: 'reader',
  client: 'ann',
  color: 'pink',
  state: 'busy',
  created: '2026-03-02T10:00:00Z',
  last: '2026-03-02T10:00:00Z',
  doing: { turn: 2, tabs: [7], calls: 3, most: 50 },
  spent,
};
const call = {
  id: 'c1',
  via: 'stdio',
  session: 'stdio:1',
  plugin: 'shop',
  readOnly: false,
  color: 'pink',
  profile: 'Work',
  client: 'ann',
  agent: 'reader',
  agentSession: 's1',
  tool: 'shop__pay',
  title: 'Pay',
  tabId: 7,
  profileId: 'p1',
  origin: 'https://shop.example',
  began: '2026-03-02T10:00:00Z',
  state: 'running',
};
const tab = {
  profileId: 'p1',
  profile: 'Work',
  tabId: 7,
  url: 'https://shop.example/cart',
  title: 'Cart',
  active: true,
  discarded: false,
  acting: false,
};
const agents = [
  {
    id: 'reader',
    status: 'ready',
    capabilities: [],
    providers: [{ id: 'openai', models: ['m1', 'm2'] }],
    default: true,
  },
  {
    id: 'coder',
    status: 'unavailable',
    capabilities: [],
    default: false,
    program: '/bin/coder',
    trouble: 'The program was not found.',
  },
];
const money = { sessions: 0, capacity: 100, spentUsd: 0, mostUsd: 0, spent: {} };
const full: Record<string, unknown> = {
  agents: { ...money, agents, spentUsd: 1.5, mostUsd: 5, spent: { reader: spent } },
  'agents/sessions': { sessions: [session, { ...session, id: 's2', agent: 'coder', state: 'idle' }] },
  running: { calls: [call, { ...call, id: 'c2', agentSession: 'other', title: 'Elsewhere' }] },
  tabs: { tabs: [tab] },
};

/** The page as it is drawn with these answers, and what it asked the relay to do. */
async function drawn(answers: Record<string, unknown>, awaited: string) {
  const panel = inPanel(<AgentsPage />, answers);
  await panel.shows(awaited);
  return panel;
}

test('a session says who works for whom, where, how far it is, and what it has spent', async () => {
  const { root, end } = await drawn(full, '“Cart”');
  const [first, second] = root.querySelectorAll('.agent-session');
  for (const said of [
    'reader for ann',
    'Pay runs · “Cart” · https://shop.example',
    'turn 2 · 3 of 50 calls',
    '1,200 tokens in, 30 out · less than $0.01',
  ])
    assert.ok(first?.textContent?.includes(said), `${said} in ${first?.textContent}`);
  assert.ok(first?.classList.contains('pink'));
  assert.ok(second?.textContent?.includes('What its program spends is not known here.'));
  const all = root.textContent ?? '';
  for (const said of ['$1.50 of $5.00', 'openai (m1, m2)', '/bin/coder', 'The program was not found.'])
    assert.ok(all.includes(said), said);
  assert.ok(!all.includes('Elsewhere'), 'another session’s call');
  end();
});

test('Stop stops the session whose button it is', async () => {
  const { root, done, end } = await drawn(full, '“Cart”');
  const button = [...root.querySelectorAll('button')].find(
    (one) => one.getAttribute('aria-label') === 'Stop coder for ann',
  );
  assert.ok(button !== undefined);
  assert.ok(document.getElementById(button.getAttribute('aria-describedby') ?? '') !== null);
  button.click();
  assert.deepEqual(done, ['POST /api/v1/agents/sessions/s2/stop']);
  end();
});

test('without an agent the page says how to add one', async () => {
  const none = { ...full, agents: { ...money, agents: [] } };
  const { root, end } = await drawn(none, 'docs/delegation.md');
  assert.equal(root.querySelectorAll('section').length, 0);
  end();
});
