// Every command that the panel names is one that this person can type.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Clients } from '../src/panel/clients.tsx';
import { FirstCall } from '../src/panel/firstcall.tsx';
import { Notices } from '../src/panel/header.tsx';
import { PluginSettings } from '../src/panel/pluginsettings.tsx';
import { SetUp } from '../src/panel/setup.tsx';
import type { PanelState } from '../src/shared/panel-state.ts';
import { Paired } from '../src/worker/link/paired.ts';
import { inPanel } from './in-panel.tsx';

// As relays say it; with what the panel shows for `up`, and what it adds to that.
const people: { who: string; command: string | undefined; line: string; more: string }[] = [
  { who: 'has installed it', command: 'tabrelay', line: 'tabrelay up', more: '' },
  { who: 'has it by npx', command: 'npx tabrelay', line: 'npx tabrelay up', more: '' },
  {
    who: 'unpacked it',
    command: "'/home/ann/my tools/tabrelay'",
    line: "'/home/ann/my tools/tabrelay' up",
    more: '',
  },
  {
    who: 'has a desktop bundle',
    command: '',
    line: 'npx tabrelay up',
    more: 'starts with the client that has it',
  },
  {
    who: 'has an older relay, or none yet',
    command: undefined,
    line: 'tabrelay up',
    more: '“npx tabrelay up”',
  },
];

const away = (phase: 'waiting' | 'stopped', command: string | undefined): Partial<PanelState> => ({
  link: { phase, address: '127.0.0.1:9333', message: 'The relay is not reachable', since: 0 },
  paired: { since: 1, ended: false, byItself: true, command },
});

for (const { who, command, line, more } of people) {
  test(`a person who ${who} is shown commands that work`, async () => {
    const lines = (root: ReturnType<typeof inPanel>['root']) =>
      Array.from(root.querySelectorAll('pre'), (one) => one.textContent);
    for (const Part of [Notices, SetUp]) {
      const waiting = inPanel(<Part />, {}, away('waiting', command));
      await waiting.shows(line);
      assert.deepEqual(lines(waiting.root), [line]);
      await waiting.shows(more);
      assert.equal(waiting.root.textContent?.includes('Node 18'), more !== '');
      waiting.end();
      const stopped = inPanel(<Part />, {}, away('stopped', command));
      await stopped.shows(line.replace('up', 'doctor'));
      stopped.end();
    }
    const { paired } = away('waiting', command);
    const within = `“${line}”${command === undefined ? ' (or “npx tabrelay up”)' : ''}`;
    const answers = {
      status: {},
      clients: { clients: [] },
      'plugins/shop/settings': {
        plugin: 'shop',
        patterns: [],
        settings: [
          { name: 'rows', type: 'table', label: 'Rows', required: false, set: false, secret: false },
        ],
      },
    };
    for (const [part, words] of [
      [<FirstCall key="" onDone={() => {}} />, `nothing to call. ${within.replaceAll('up', 'doctor')}`],
      [<Clients key="" />, `None yet. ${within.replaceAll('up', 'connect')} sets`],
      [
        <PluginSettings key="" plugin="shop" onBack={() => {}} />,
        line.replace('up', 'plugin configure shop rows='),
      ],
    ] as const) {
      const panel = inPanel(part, answers, paired && { paired });
      await panel.shows(words);
      panel.end();
    }
  });
}

test('no other text of the panel names a command', () => {
  const src = path.join(import.meta.dirname, '../src');
  const named =
    /(?<!npx )tabrelay (?:up|down|doctor|pair|connect|clients|plugin|permit|run|status|mcp|agents)\b/;
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^(?:panel|shared|worker\/(?:link|person)|capabilities)\/.*\.tsx?$/.test(file.replaceAll(path.sep, '/')),
  );
  assert.ok(files.includes(path.join('panel', 'header.tsx')));
  const wrong = files
    .filter((file) => !['called.ts', 'ways.tsx', 'picture.ts'].includes(path.basename(file)))
    .filter((file) =>
      readFileSync(path.join(src, file), 'utf8')
        .split('\n')
        .some((line) => named.test(line) && !/^\s*(?:\/\/|\*|\/\*)/.test(line)),
    );
  assert.deepEqual(wrong, []);
});

test('what the relay said stays while it is away, for that relay, and without anything hidden in it', async (t) => {
  const stored: Record<string, unknown> = {};
  const before = Reflect.get(globalThis, 'chrome');
  let secret = 'ab'.repeat(32);
  const local = {
    get: async (key: string) => ({ [key]: stored[key] }),
    set: async (values: object) => void Object.assign(stored, structuredClone(values)),
  };
  const getURL = () => `data:application/json,${JSON.stringify({ address: '127.0.0.1:7717', secret })}`;
  Reflect.set(globalThis, 'chrome', { storage: { local }, runtime: { getURL } });
  t.after(() => Reflect.set(globalThis, 'chrome', before));
  const program = { possible: false, find: async () => undefined, forget: () => {} };
  /** What a worker that was just started knows. */
  const known = async () => {
    const paired = new Paired(() => {}, program);
    await paired.read();
    return paired.state.command;
  };
  const tell = async (command: string | undefined) => {
    const paired = new Paired(() => {}, program);
    await paired.read();
    await paired.proved(command);
    return paired.state.command;
  };

  assert.equal(await known(), undefined);
  for (const command of ['npx tabrelay', '', '/opt/ünï/tabrelay']) {
    assert.equal(await tell(command), command);
    assert.equal(await known(), command);
  }
  for (const hidden of ['tabrelay\nrm', 'tabrelay\u202e', 'tab\u2028relay']) {
    assert.equal(await tell(hidden), undefined);
    assert.equal(await known(), undefined);
  }
  await tell('npx tabrelay');
  assert.equal(await tell(undefined), undefined, 'a relay that was put back to an older one');
  await tell('npx tabrelay');
  secret = 'cd'.repeat(32);
  assert.equal(await known(), undefined, 'another relay');
});
