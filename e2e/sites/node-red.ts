// A real Node-RED with users, and two flows: one that greets, and one that fails.

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import { z } from 'zod';
import type { Closing } from '../stage/closing.ts';
import { repository, temporaryFolder } from '../stage/paths.ts';
import { freePort } from '../stage/port.ts';
import { type Program, start } from '../stage/process.ts';

const program = path.join(repository, 'e2e/outside/node-red/node_modules/node-red/red.js');

const password = 'correct horse battery';

export interface Somebody {
  name: string;
  password: string;
}

/** Who may change flows, and who may only look at them. */
export const editor: Somebody = { name: 'alice', password };
export const reader: Somebody = { name: 'bob', password };

// The password above, hashed with bcrypt at its lowest cost.
const hash = '$2b$04$8LgPDHtvyZI6i21c08tTXemvipA8vYmUHQJ5Zp8jCv55iU.16XI06';

const greet = `context.set('count', (context.get('count') ?? 0) + 1);
flow.set('last', msg.payload);
return { ...msg, payload: 'Hello ' + msg.payload };`;

const payload = [{ p: 'payload' }];
const flows = [
  { id: 'greetings', type: 'tab', label: 'Greetings', disabled: false, info: 'Says hello.' },
  { id: 'failures', type: 'tab', label: 'Failures', disabled: false, info: '' },
  {
    ...{
      id: 'press',
      type: 'inject',
      z: 'greetings',
      name: 'Press',
      props: payload,
      repeat: '',
      once: false,
    },
    ...{ payload: 'world', payloadType: 'str', x: 100, y: 40, wires: [['greet']] },
  },
  {
    ...{ id: 'greet', type: 'function', z: 'greetings', name: 'Greet', func: greet, outputs: 1, libs: [] },
    ...{ x: 240, y: 40, wires: [['show']] },
  },
  {
    ...{ id: 'show', type: 'debug', z: 'greetings', name: 'Show', active: true, tosidebar: true },
    ...{ complete: 'payload', targetType: 'msg', x: 380, y: 40, wires: [] },
  },
  {
    ...{ id: 'press-2', type: 'inject', z: 'failures', name: '', props: payload, repeat: '', once: false },
    ...{ payload: '', payloadType: 'date', x: 100, y: 40, wires: [['fall']] },
  },
  {
    ...{ id: 'fall', type: 'function', z: 'failures', name: 'Fall', func: "throw new Error('It fell.')" },
    ...{ outputs: 1, libs: [], x: 240, y: 40, wires: [[]] },
  },
];

export interface NodeRed {
  url: string;
  program: Program;
  /** A session of the editor's for somebody, past the browser. */
  session(somebody: Somebody): Promise<{ access_token: string }>;
  /** Deploys what is there once more, as somebody else does meanwhile. */
  redeploy(label: string): Promise<void>;
}

const Session = z.looseObject({ access_token: z.string() });
const Deployed = z.object({ flows: z.array(z.looseObject({ id: z.string() })), rev: z.string() });

export async function openNodeRed(closing: Closing): Promise<NodeRed> {
  if (!existsSync(program)) throw new Error(`${program} does not exist. Run "make applications" first.`);
  const folder = await temporaryFolder('node-red', closing);
  const port = await freePort();
  await writeFile(path.join(folder, 'flows.json'), JSON.stringify(flows));
  await writeFile(path.join(folder, 'settings.js'), settings(port));
  const server = start(process.execPath, [program, '--userDir', folder]);
  closing.defer(() => server.stop());
  const url = `http://127.0.0.1:${port}/`;
  const started = () => server.output().includes('Started flows');
  await expect.poll(started, { message: 'Node-RED starts its flows', timeout: 60_000 }).toBe(true);
  const session: NodeRed['session'] = async ({ name, password }) => {
    const fields = {
      client_id: 'node-red-editor',
      grant_type: 'password',
      scope: '',
      username: name,
      password,
    };
    const answer = await fetch(`${url}auth/token`, { method: 'POST', body: new URLSearchParams(fields) });
    return Session.parse(await answer.json());
  };
  const redeploy = async (label: string) => {
    const headers = {
      'content-type': 'application/json',
      'node-red-api-version': 'v2',
      authorization: `Bearer ${(await session(editor)).access_token}`,
    };
    const deployed = Deployed.parse(await (await fetch(`${url}flows`, { headers })).json());
    for (const flow of deployed.flows) if (flow.id === 'greetings') flow.label = label;
    const answer = await fetch(`${url}flows`, { method: 'POST', headers, body: JSON.stringify(deployed) });
    if (!answer.ok) throw new Error(`Node-RED answered ${answer.status}: ${await answer.text()}`);
  };
  return { url, program: server, session, redeploy };
}

const settings = (port: number) => `module.exports = {
  uiHost: '127.0.0.1', uiPort: ${port}, flowFile: 'flows.json', credentialSecret: false,
  telemetry: { enabled: false, updateNotification: false },
  editorTheme: { tours: false }, externalModules: { palette: { allowInstall: false } },
  adminAuth: { type: 'credentials', users: [
    { username: '${editor.name}', password: '${hash}', permissions: '*' },
    { username: '${reader.name}', password: '${hash}', permissions: 'read' },
  ] },
};`;
