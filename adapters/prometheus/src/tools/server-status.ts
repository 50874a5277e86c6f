import { defineTool } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';
import { at, flag, number, text } from '../json.ts';

export const serverStatus = defineTool({
  name: 'server_status',
  displayName: 'Server status',
  description:
    'Version of the server, since when it runs, how long it keeps data, and whether its last configuration could be loaded.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: {
    type: 'object',
    properties: {
      version: { type: 'string' },
      goVersion: { type: 'string' },
      startTime: { type: 'string' },
      configLoaded: {
        type: 'boolean',
        description: 'False when the last change of the configuration was refused.',
      },
      configTime: { type: 'string' },
      retention: { type: 'string', description: 'For how long, or up to which size, data is kept.' },
      goroutines: { type: 'integer' },
      corruptions: { type: 'integer', description: 'Of the write-ahead log.' },
    },
    required: [
      'version',
      'goVersion',
      'startTime',
      'configLoaded',
      'configTime',
      'retention',
      'goroutines',
      'corruptions',
    ],
  },
  async handle(_, { signal }) {
    const [built, running] = await Promise.all([
      get('status/buildinfo', {}, signal),
      get('status/runtimeinfo', {}, signal),
    ]);
    const build = at(built.data);
    const runtime = at(running.data);
    return {
      version: text(build.version),
      goVersion: text(build.goVersion),
      startTime: text(runtime.startTime),
      configLoaded: flag(runtime.reloadConfigSuccess),
      configTime: text(runtime.lastConfigTime),
      retention: text(runtime.storageRetention),
      goroutines: number(runtime.goroutineCount),
      corruptions: number(runtime.corruptionCount),
    };
  },
});
