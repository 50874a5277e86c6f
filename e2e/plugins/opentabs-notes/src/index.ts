import type { ConfigSchema, ToolDefinition } from '@opentabs-dev/plugin-sdk';
import { getMetaContent, log, OpenTabsPlugin, waitUntil } from '@opentabs-dev/plugin-sdk';
import { events } from './events.js';
import { domTools } from './tools/dom.js';
import { noteTools } from './tools/notes.js';
import { pluginTools } from './tools/plugin.js';
import { storageTools } from './tools/storage.js';
import { timingTools } from './tools/timing.js';

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
  ];

  #activated = false;

  async isReady(): Promise<boolean> {
    await waitUntil(() => getMetaContent('user') !== null, { interval: 20, timeout: 1000 });
    return this.#activated;
  }

  override onActivate(): void {
    this.#activated = true;
    events.push('activate');
  }

  override onDeactivate(): void {
    document.documentElement.dataset.deactivated = 'yes';
  }

  override onNavigate(url: string): void {
    events.push(`navigate ${new URL(url).hash}`);
  }

  override onToolInvocationStart(tool: string): void {
    events.push(`start ${tool}`);
  }

  override onToolInvocationEnd(tool: string, success: boolean, durationMs: number): void {
    events.push(`end ${tool} ${success} ${durationMs >= 0}`);
    if (!success) log.info('a tool failed', { tool });
  }
}

export default new NotesPlugin();
