// How a port ends. Chrome lists a reason that nobody reads among the errors on the extension's card: that the page went
// into the back/forward cache, for one, which every second click on a link does.

export function whenDisconnected(port: chrome.runtime.Port, then: () => void): void {
  port.onDisconnect.addListener(() => {
    void chrome.runtime?.lastError;
    then();
  });
}
