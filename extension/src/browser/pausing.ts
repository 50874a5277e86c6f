// Waits for a moment. Timers of hidden pages are slow, so that the worker is asked to measure it (bridge/pauses.ts).
export const pause = (ms: number): Promise<void> =>
  globalThis.tabrelayBridge?.pause?.(ms) ?? new Promise((resolve) => setTimeout(resolve, ms));
