// The port to the service worker. When the worker dies the port closes, and connecting again wakes the worker.

import { whenDisconnected } from '../shared/ports.ts';
export interface Line {
  post(message: unknown): void; // lost while there is no port
  close(): void; // for good
}

interface Listener {
  connected(): void;
  message(raw: unknown): void;
  lost(): void;
  urgent(): boolean; // something waits for the worker: connect without delay
  orphaned(): void; // the extension was reloaded or removed; this bridge is of no use any more
}

const maxJitterMs = 100; // many tabs must not all call a worker that has just started

/** Connects to the worker and stays connected for as long as the document and the extension live. */
export function openLine(listener: Listener): Line {
  const { runtime } = chrome; // as long as this world has it
  // After the extension is reloaded the object is still there but has no id, and connect throws.
  const extensionGone = (): boolean => runtime?.id === undefined;
  let port: chrome.runtime.Port | undefined;

  function connect(): void {
    if (port !== undefined) return;
    if (extensionGone()) {
      listener.orphaned();
      return;
    }
    let opened: chrome.runtime.Port;
    try {
      opened = runtime.connect({ name: 'bridge' });
    } catch {
      listener.orphaned();
      return;
    }
    port = opened;
    opened.onMessage.addListener((raw: unknown) => listener.message(raw));
    whenDisconnected(opened, runtime, () => {
      if (port !== opened) return;
      port = undefined;
      listener.lost();
      reconnect();
    });
    listener.connected();
  }

  // The port is gone for sure, or is given up.
  function drop(): void {
    const dropped = port;
    port = undefined;
    dropped?.disconnect();
    listener.lost();
  }

  function reconnect(): void {
    if (extensionGone()) {
      listener.orphaned();
      return;
    }
    // Chrome rounds the timers of hidden pages up to a second, far more than the crowd they would spare the worker.
    if (listener.urgent() || document.hidden) connect();
    else setTimeout(connect, Math.random() * maxJitterMs);
  }

  // Chrome closes the port of a page that it puts into the back/forward cache, and tells the page nothing: what looks
  // like a port when the page comes back leads nowhere.
  addEventListener('pageshow', (event) => {
    if (!event.persisted) return;
    drop();
    connect();
  });
  // A prerendered document has no tab of its own yet.
  if (Reflect.get(document, 'prerendering') === true) {
    document.addEventListener('prerenderingchange', connect, { once: true });
  } else connect();

  return {
    post(message) {
      try {
        port?.postMessage(message);
      } catch {
        // The port broke in this moment; onDisconnect follows, and what matters is sent again on the next port.
      }
    },
    close() {
      port?.disconnect();
    },
  };
}
