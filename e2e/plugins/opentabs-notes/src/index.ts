import type { ConfigSchema, ToolDefinition } from '@opentabs-dev/plugin-sdk';
import {
  definePrompt,
  defineResource,
  getMetaContent,
  log,
  notifyReadinessChanged,
  OpenTabsPlugin,
  waitUntil,
} from '@opentabs-dev/plugin-sdk';
import { events } from './events.js';
import { domTools } from './tools/dom.js';
import { failureTools } from './tools/failures.js';
import { noteTools } from './tools/notes.js';
import { pluginTools } from './tools/plugin.js';
import { storageTools } from './tools/storage.js';
import { timingTools } from './tools/timing.js';
import { valueTools } from './tools/values.js';
import { waitTools } from './tools/waits.js';

class NotesPlugin extends OpenTabsPlugin {
  readonly name = 'opentabs-notes';
  readonly description = 'A notebook';
  override readonly displayName = 'Notes';
  readonly urlPatterns = ['http://opentabs-notes.invalid/*'];
  override readonly homepage = 'https://notes.example/';
  override readonly configSchema: ConfigSchema = {
    address: { type: 'url', label: 'Address', description: 'Where the notebook is.' },
    greeting: { type: 'string', label: 'Greeting' },
    limit: { type: 'number', label: 'Limit' },
    loud: { type: 'boolean', label: 'Loud' },
    colour: { type: 'select', label: 'Colour', options: ['red', 'green'] },
  };
  readonly tools: ToolDefinition[] = [
    ...domTools,
    ...noteTools,
    ...storageTools,
    ...timingTools,
    ...pluginTools,
    ...failureTools,
    ...valueTools,
    ...waitTools,
  ];

  // Not offered, and no harm.
  readonly resources = [
    defineResource({
      uri: 'notes://all',
      name: 'Notes',
      read: async (uri: string) => ({ uri, text: 'buy tea' }),
    }),
  ];
  readonly prompts = [
    definePrompt({
      name: 'summarise',
      render: async () => [{ role: 'user', content: { type: 'text', text: 'Summarise my notes.' } }],
    }),
  ];

  #activated = false;

  async isReady(): Promise<boolean> {
    if (document.documentElement.dataset.tells) return getMetaContent('user') !== null;
    await waitUntil(() => getMetaContent('user') !== null, { interval: 20, timeout: 1000 });
    return this.#activated;
  }

  override onActivate(): void {
    this.#activated = true;
    events.push('activate');
    document.addEventListener('notes:user', notifyReadinessChanged);
  }

  override onDeactivate(): void {
    document.documentElement.dataset.left = 'deactivated';
  }

  override teardown(): void {
    document.removeEventListener('notes:user', notifyReadinessChanged);
    document.documentElement.dataset.left += ', torn down';
  }

  override onNavigate(url: string): void {
    events.push(`navigate ${new URL(url).hash}`);
  }

  override onToolInvocationStart(tool: string): void {
    events.push(`start ${tool}`);
    if (tool === 'read_title') throw new Error('a hook that fails');
  }

  override onToolInvocationEnd(tool: string, success: boolean, durationMs: number): void {
    events.push(`end ${tool} ${success} ${durationMs >= 0}`);
    if (!success) log.info('a tool failed', { tool });
  }
}

export default new NotesPlugin();
