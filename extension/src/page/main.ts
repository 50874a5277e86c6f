// What every main-world adapter file begins with. Registered for document_start, so all of this, the capture of
// built-ins included, runs before any script of the page.

import { adapterEvent } from './channel.ts';
import { startAdapter } from './start.ts';

declare const tabrelayRuntime: { start?: typeof start };

/** Connects one plugin's adapter to the bridge of this document. Called by the composed adapter file. */
function start(about: unknown, definition: unknown, enter?: unknown): void {
  startAdapter({ about, definition, enter }, { event: adapterEvent, shared: true });
}

// The bundle's variable, declared in front of it. An export would go through a loop over an object's fields, which
// takes in whatever the page hung on Object.prototype.
tabrelayRuntime.start = start;
