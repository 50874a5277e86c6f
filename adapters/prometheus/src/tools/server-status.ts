import { defineTool } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';

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
    const [build, runtime] = [built.data, running.data];
    return {
      version: build.string('version'),
      goVersion: build.string('goVersion'),
      startTime: runtime.string('startTime'),
      configLoaded: runtime.boolean('reloadConfigSuccess'),
      configTime: runtime.string('lastConfigTime'),
      retention: runtime.string('storageRetention'),
      goroutines: runtime.number('goroutineCount'),
      corruptions: runtime.number('corruptionCount'),
    };
  },
});
