// What a pre-script imports. It is a bundle of its own, so this module imports nothing.

/** What a pre-script gets. */
export interface PreScriptContext {
  /** Keeps a value for getPreScriptValue. Setting a key again replaces its value, also after the page has loaded. */
  set(key: string, value: unknown): void;
  readonly log: Record<'debug' | 'info' | 'warn' | 'error', (message: string, ...data: unknown[]) => void>;
}

/** Given by the script around the bundle; not a global. */
declare const tabrelayPreScript: { readonly context: PreScriptContext } | undefined;

/**
 * Runs at document_start in the page's own world, before any script of the page: the place to look at a token while
 * the page sends it. What the page does afterwards can change what it sees, so a value is never more than a hint.
 */
export function definePreScript(run: (context: PreScriptContext) => void): void {
  if (typeof tabrelayPreScript !== 'undefined') run(tabrelayPreScript.context);
}
