// How a port ends. Chrome lists a reason that nobody reads among the errors on the extension's card: that the page went
// into the back/forward cache, for one, which every second click on a link does.

/** Calls then once a port is closed. runtime is Chrome's, which a bridge has taken away from the rest of its world. */
export function whenDisconnected(
  port: chrome.runtime.Port,
  runtime: Pick<typeof chrome.runtime, 'lastError'>,
  then: () => void,
): void {
  port.onDisconnect.addListener(() => {
    void runtime.lastError;
    then();
  });
}
