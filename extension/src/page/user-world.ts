// Goes before the file of an isolated plugin that runs as a user script, in a world of its own: registers it with the
// bridge of the document by an event whose name neither the page nor another plugin knows.

import { hideInterfaces } from '../shared/interfaces.ts';
import { startAdapter } from './start.ts';

declare global {
  var tabrelayAdapterEvent: string | undefined; // set by the script before this one
}

const event = globalThis.tabrelayAdapterEvent;
Reflect.deleteProperty(globalThis, 'tabrelayAdapterEvent');
hideInterfaces();
if (event !== undefined) {
  globalThis.tabrelayBridge = {
    register(about, definition, enter) {
      Reflect.deleteProperty(globalThis, 'tabrelayBridge');
      startAdapter({ about, definition, enter }, { event, shared: false });
    },
  };
}
