// A document without a window that exists while no page has a bridge: like a bridge it holds a port to the service
// worker, and connecting again when that is lost wakes a worker that Chrome has stopped.

import { whenDisconnected } from '../shared/ports.ts';

function connect(): void {
  if (chrome.runtime?.id === undefined) return; // the extension was reloaded; this document is about to go
  whenDisconnected(chrome.runtime.connect({ name: 'wake' }), chrome.runtime, () => setTimeout(connect));
}

connect();
