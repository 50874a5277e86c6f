import type { Settings, Tool } from '../tool.ts';

/** What class-based plugins extend. The builder reads their fields, and the page's runtime calls their hooks. */
export abstract class OpenTabsPlugin {
  abstract readonly name: string;
  abstract readonly displayName: string;
  abstract readonly description: string;
  abstract readonly urlPatterns: string[];
  abstract readonly tools: readonly Tool[];
  declare readonly excludePatterns?: string[];
  declare readonly homepage?: string;
  declare readonly configSchema?: Settings;

  abstract isReady(): Promise<boolean>;

  teardown?(): void;
  onActivate?(): void;
  onDeactivate?(): void;
  onNavigate?(url: string): void;
  onToolInvocationStart?(toolName: string): void;
  onToolInvocationEnd?(toolName: string, success: boolean, durationMs: number): void;
}
