import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { send } from '../api.ts';

export const runtimeInfo = defineTool({
  name: 'runtime_info',
  displayName: 'Runtime',
  description:
    'Version of Node-RED and Node, whether flows run, how much memory it takes, and who is ' +
    'signed in.',
  annotations: { readOnlyHint: true },
  input: s.parameters({}),
  output: s.object({
    version: s.string(),
    user: s.string('Who is signed in; empty when the editor asks nobody to.'),
    state: s.string('Of the flows: start, stop or safe.'),
    nodeVersion: s.optional(s.string()),
    platform: s.optional(s.string()),
    memoryBytes: s.optional(s.integer()),
  }),
  async handle(_, { signal }) {
    const [settings, flows, report] = await Promise.all([
      send('settings', {}, signal),
      send('flows/state', {}, signal),
      send('diagnostics', {}, signal).catch(withoutReport),
    ]);
    const about = {
      version: settings.string('version'),
      // Nobody signs in to an editor that asks nobody to.
      user: settings.maybe('user', 'username')?.string() ?? '',
      state: flows.string('state'),
    };
    if (report === undefined) return about;
    const node = report.at('nodejs');
    return {
      ...about,
      nodeVersion: node.string('version'),
      platform: node.string('platform'),
      memoryBytes: node.number('memoryUsage', 'rss'),
    };
  },
});

/** A person may have turned the report off, or may not see it. The rest is known without it. */
function withoutReport(error: unknown): undefined {
  if (error instanceof ToolError && error.category !== 'internal') return;
  throw error;
}
