import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';

export const serverStatus = defineTool({
  name: 'server_status',
  displayName: 'Server status',
  description:
    'Version of the server, since when it runs, how long it keeps data, and whether its ' +
    'last configuration could be loaded.',
  annotations: { readOnlyHint: true },
  input: s.parameters({}),
  output: s.object({
    version: s.string(),
    goVersion: s.string(),
    startTime: s.string(),
    configLoaded: s.boolean('False when the last change of the configuration was refused.'),
    configTime: s.string(),
    retention: s.string('For how long, or up to which size, data is kept.'),
    goroutines: s.integer(),
    corruptions: s.integer('Of the write-ahead log.'),
  }),
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
