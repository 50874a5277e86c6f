/** The store of chrome.storage.session, or one like it: it outlives this worker, and ends with the browser. */
export interface SessionStore {
  get(keys: null): Promise<Record<string, unknown>>;
  set(items: Record<string, unknown>): Promise<void>;
  remove(keys: string[]): Promise<void>;
}
