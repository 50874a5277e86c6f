// The open side panels: they get the whole state whenever it changes.
import { exactly, shape } from '../page/guards.ts';
import type { PanelState } from '../panel/state.ts';

const isRetry = shape({ type: exactly('retry') });

export class Panels {
  readonly #ports = new Set<chrome.runtime.Port>();
  readonly #state: () => PanelState;
  #due = false;

  constructor(state: () => PanelState) {
    this.#state = state;
  }

  /** Takes a panel's port; a port of anything but our own panel page is turned away. */
  add(port: chrome.runtime.Port, dial: (forced: boolean) => void): void {
    if (port.sender?.id !== chrome.runtime.id || port.sender.url !== chrome.runtime.getURL('panel.html')) {
      port.disconnect();
      return;
    }
    this.#ports.add(port);
    port.onDisconnect.addListener(() => this.#ports.delete(port));
    port.onMessage.addListener((message: unknown) => {
      if (isRetry(message)) dial(true);
    });
    port.postMessage(this.#state());
  }

  /** Something the panel shows changed. Sent at most ten times a second, and not at all without a panel. */
  changed(): void {
    if (this.#due || this.#ports.size === 0) return;
    this.#due = true;
    setTimeout(() => {
      this.#due = false;
      const state = this.#state();
      for (const port of this.#ports) port.postMessage(state);
    }, 100);
  }
}
