import { defineTool, getConfig, getPreScriptValue, log, sleep } from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';
import { events } from '../events.js';

const readSettings = defineTool({
  name: 'read_settings',
  description: 'What the person set, before and after a wait',
  input: z.object({}),
  output: z.object({ before: z.unknown(), after: z.unknown() }),
  async handle() {
    const read = () =>
      ['address', 'greeting', 'limit', 'loud', 'colour'].map((key) => getConfig(key) ?? null);
    const before = read();
    await sleep(50);
    return { before, after: read() };
  },
});

const readPreScript = defineTool({
  name: 'read_pre_script',
  description: 'What the pre-script kept, after a wait',
  input: z.object({}),
  output: z.object({ token: z.unknown(), installedAt: z.unknown() }),
  async handle() {
    await sleep(20);
    return {
      token: getPreScriptValue('token') ?? null,
      installedAt: getPreScriptValue('installedAt') ?? null,
    };
  },
});

const readEvents = defineTool({
  name: 'read_events',
  description: 'What the hooks of the plugin heard',
  input: z.object({}),
  output: z.object({ events: z.array(z.string()) }),
  async handle() {
    log.info('events are read', { count: events.length });
    return { events: [...events] };
  },
});

export const pluginTools = [readSettings, readPreScript, readEvents];
