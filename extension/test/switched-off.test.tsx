// What a capability brings to the panel goes when the relay has it no more, because capabilities.<name> is false in
// config.json.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { App } from '../src/panel/app.tsx';
import { inPanel } from './in-panel.tsx';

const core = {
  running: { calls: [] },
  tabs: { tabs: [] },
  reviews: { reviews: [], required: true },
  paused: { paused: false },
  doctor: { sound: true, findings: [] },
  clients: { clients: [] },
  approvals: { approvals: [], missed: [], changes: [], ended: [] },
  profiles: { profiles: [] },
};
const delegation = {
  agents: {
    agents: [{ id: 'reader', status: 'ready', capabilities: [], providers: [], default: true }],
    sessions: 0,
    capacity: 10,
    spentUsd: 0,
    mostUsd: 0,
    spent: {},
  },
  'agents/sessions': { sessions: [] },
};
const recording = {
  recordings: {
    recordings: [
      {
        client: 'cli',
        profileId: 'p1',
        profile: 'Work',
        tabId: 7,
        origin: 'https://shop.example',
        began: '2026-03-02T10:00:00Z',
        requests: 2,
      },
    ],
  },
};

const titles = ({ root }: ReturnType<typeof inPanel>) =>
  [...root.querySelectorAll('[role=tab]')].map((tab) => tab.textContent);

test('without delegation there is no page of agents, and its capability says nothing elsewhere', async () => {
  const panel = inPanel(<App />, { ...core, ...delegation });
  await panel.shows('Agents');
  assert.deepEqual(titles(panel), ['Now', 'Plugins', 'Rules', 'Clients', 'Agents', 'Log']);
  panel.restart(core);
  await panel.shows('Agents', false);
  assert.deepEqual(titles(panel), ['Now', 'Plugins', 'Rules', 'Clients', 'Log']);
  panel.end();
});

test('without recording nothing is shown as recorded', async () => {
  const panel = inPanel(<App />, { ...core, ...recording });
  await panel.shows('2 requests seen');
  assert.equal(panel.root.querySelectorAll('.recording').length, 1);
  panel.restart(core);
  await panel.shows('2 requests seen', false);
  assert.equal(panel.root.querySelectorAll('.recording').length, 0);
  panel.end();
});

test('a panel that a relay without either serves from the start shows nothing of them', async () => {
  const panel = inPanel(<App />, core);
  await panel.shows('No agent is doing anything.');
  assert.deepEqual(titles(panel), ['Now', 'Plugins', 'Rules', 'Clients', 'Log']);
  assert.equal(panel.root.querySelectorAll('[aria-label=Recordings]').length, 0);
  panel.end();
});
