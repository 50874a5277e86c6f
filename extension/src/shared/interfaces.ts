// Chrome's names for the extension's interfaces in a page, by the name it had first and by the one of the
// WebExtensions.
const interfaces = ['chrome', 'browser'];

/**
 * Takes the extension's interfaces away from this world, in which plugins run. Beside the bridge, one of them could
 * connect to the worker as a bridge, and speak for the others.
 */
export function hideInterfaces(): void {
  for (const name of interfaces)
    Object.defineProperty(globalThis, name, { value: undefined, writable: false, configurable: false });
}
