// Waits for a moment. Timers of hidden pages are slow, so that the worker is asked to measure it
// (capabilities/browser/bridge).
export const pause = (ms: number): Promise<void> =>
  globalThis.tabrelayBridge?.pause?.(ms) ?? new Promise((resolve) => setTimeout(resolve, ms));

/** Lets the page have its turn. Timers of hidden pages are slow; a message is not. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
