import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { asNumber, asText, objectAt } from '@tabrelay/plugin-sdk/json';
import { send } from '../api.ts';

export const runtimeInfo = defineTool({
  name: 'runtime_info',
  displayName: 'Runtime',
  description:
    'Version of Node-RED and Node, whether flows run, how much memory it takes, and who is signed in.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: {
    type: 'object',
    properties: {
      version: { type: 'string' },
      user: { type: 'string', description: 'Who is signed in; empty when the editor asks nobody to.' },
      state: { type: 'string', description: 'Of the flows: start, stop or safe.' },
      nodeVersion: { type: 'string' },
      platform: { type: 'string' },
      memoryBytes: { type: 'integer' },
    },
    required: ['version', 'user', 'state'],
  },
  async handle(_, { signal }) {
    const [settings, flows, report] = await Promise.all([
      send('settings', {}, signal),
      send('flows/state', {}, signal),
      send('diagnostics', {}, signal).catch(withoutReport),
    ]);
    const about = {
      version: asText(objectAt(settings).version),
      user: asText(objectAt(settings, 'user').username),
      state: asText(objectAt(flows).state),
    };
    if (report === undefined) return about;
    const { version, platform, memoryUsage } = objectAt(report, 'nodejs');
    return {
      ...about,
      nodeVersion: asText(version),
      platform: asText(platform),
      memoryBytes: asNumber(objectAt(memoryUsage).rss),
    };
  },
});

/** A person may have turned the report off, or may not see it. The rest is known without it. */
function withoutReport(error: unknown): undefined {
  if (error instanceof ToolError && error.category !== 'internal') return;
  throw error;
}
